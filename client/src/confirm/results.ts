// What runs have shown, until the code changes.

import path from 'node:path';

import { isSameFile } from '../common/paths';
import type { Key } from '../protocol';
import type { HeldFinding, Report } from './report';

export interface Result {
  readonly script: string;
  readonly cwd: string;
  readonly report: Report;
  /** The run before, if that one was confirmed and this one is clean: what it was like before the change. */
  readonly before?: Report | undefined;
}

export class Results {
  private readonly byScript = new Map<string, Result>();
  private readonly faulty = new Map<string, Report>();

  add(script: string, cwd: string, report: Report): Result {
    const before = report.verdict === 'clean' ? this.faulty.get(script) : undefined;
    if (report.verdict === 'confirmed') this.faulty.set(script, report);
    const result = { script, cwd, report, before };
    this.byScript.set(script, result);
    return result;
  }

  /** A file has changed: what runs have said of it holds no more. Whether there was something. */
  forget(file: string): boolean {
    let some = false;
    for (const [script, result] of this.byScript) {
      if (filesOf(result).some((each) => isSameFile(each, file))) {
        this.byScript.delete(script);
        some = true;
      }
    }
    return some;
  }

  /** The last run that says something of the finding, or else one of its file. */
  of(key: Key): { result: Result; held: HeldFinding | undefined } | undefined {
    const results = [...this.byScript.values()].reverse();
    for (const result of results) {
      const held = result.report.findings.find((each) => isSame(each, result.cwd, key));
      if (held) return { result, held };
    }
    const file = key[1];
    const result = results.find((each) => typeof file === 'string' && filesOf(each).some((one) => isSameFile(one, file)));
    return result && { result, held: undefined };
  }
}

/** The key has code, path, line and column; a report's findings count as the key does. */
function isSame(held: HeldFinding, cwd: string, [code, file, line, column]: Key): boolean {
  const { start } = held.range;
  return (
    held.code === code &&
    start.line === line &&
    start.column === column &&
    typeof file === 'string' &&
    isSameFile(path.resolve(cwd, held.path), file)
  );
}

export function keyOf({ code, path: file, range }: HeldFinding, cwd: string): Key {
  return [code, path.resolve(cwd, file), range.start.line, range.start.column];
}

function filesOf({ script, cwd, report }: Result): string[] {
  return [script, ...new Set(report.findings.map((each) => path.resolve(cwd, each.path)))];
}
