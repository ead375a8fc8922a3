// Every sentence in both languages, and none that nobody says.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import ts from 'typescript';

interface Manifest {
  readonly l10n: string;
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
  };
}

const read = (name: string): unknown => JSON.parse(readFileSync(name, 'utf8'));
const catalogue = (name: string): Record<string, string> => read(name) as Record<string, string>;

const manifest = readFileSync('package.json', 'utf8');
const english = catalogue('package.nls.json');
const chinese = catalogue('package.nls.zh-cn.json');
const sentences = sentencesOf(sources('client/src'));
const translations = catalogue('l10n/bundle.l10n.zh-cn.json');

function sources(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => path.join(folder, name));
}

/** The first argument of each `say(…)` and `l10n.t(…)`; one that is not written out cannot be translated. */
function sentencesOf(files: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const file of files) {
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && ['say', 'l10n.t'].includes(node.expression.getText(source))) {
        const [sentence] = node.arguments;
        const written = sentence && ts.isStringLiteralLike(sentence);
        // `common/words.ts` is where `say` is made of `l10n.t`.
        if (!written && !file.endsWith('words.ts')) assert.fail(`${file}: ${node.getText(source)} is not written out`);
        if (written) found.add(sentence.text);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

const places = (text: string): string[] => (text.match(/\{\d+\}/g) ?? []).sort();
const variables = (text: string): string[] => (text.match(/`[^`]*`/g) ?? []).sort();

test('the source has sentences to translate', () => {
  assert.ok(sentences.size > 50, `${sentences.size} found`);
});

test('each sentence of the source has a translation, and none is superfluous', () => {
  assert.deepEqual([...sentences].filter((each) => !(each in translations)), []);
  assert.deepEqual(Object.keys(translations).filter((each) => !sentences.has(each)), []);
});

test('translations keep the places of what is filled in', () => {
  for (const [sentence, translation] of Object.entries(translations)) {
    assert.deepEqual(places(translation), places(sentence), sentence);
  }
});

test('each key of the manifest is in both catalogues, and none is superfluous', () => {
  const keys = [...manifest.matchAll(/"%([^%"]+)%"/g)].map((match) => match[1]!);
  assert.deepEqual([...new Set(keys)].filter((key) => !(key in english)), []);
  assert.deepEqual(Object.keys(english).filter((key) => !keys.includes(key)), []);
  assert.deepEqual(Object.keys(chinese).sort(), Object.keys(english).sort());
});

test('the catalogues of the manifest name the same settings, variables and files', () => {
  for (const [key, text] of Object.entries(english)) {
    assert.deepEqual(variables(chinese[key]!), variables(text), key);
  }
});

test('what is Chinese has Chinese in it', () => {
  const untranslated = Object.entries({ ...translations, ...chinese }).filter(([, text]) => !/[\u4e00-\u9fff]/.test(text));
  assert.deepEqual(untranslated, []);
});

test('commands in menus are contributed, and contributed ones are registered', () => {
  const { contributes, l10n } = JSON.parse(manifest) as Manifest;
  const names = contributes.commands.map((each) => each.command);
  for (const each of Object.values(contributes.menus).flat()) assert.ok(names.includes(each.command), each.command);
  const extension = readFileSync('client/src/extension.ts', 'utf8');
  for (const name of names) assert.ok(extension.includes(`command('${name.replace('loopgrad.', '')}'`), name);
  assert.ok(existsSync(path.join(l10n, 'bundle.l10n.zh-cn.json')));
});
