// What the client relies on, asked of the real server.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { type CodeAction, CodeActionRequest, CodeActionResolveRequest } from 'vscode-languageserver-protocol/node';

import { english } from '../src/common/say';
import { draw } from '../src/explain/picture';
import { type Cause, CONFIRM, type Explanation, type Key, SHOW_EXPLANATION } from '../src/protocol';
import { LanguageServer, serverPython } from './languageServer';

const FILE = 'examples/admm_denoiser.py';
const python = serverPython();

// A machine that names its Python has to have the server's packages in it.
const skip = !python && !process.env['LOOPGRAD_PYTHON'] && 'no Python with pygls and libcst (LOOPGRAD_PYTHON names one)';

describe('the server', { skip }, () => {
  let server: LanguageServer;
  let uri: string;
  let key: Key;

  before(async () => {
    assert.ok(python, 'LOOPGRAD_PYTHON has no pygls or libcst');
    server = new LanguageServer(python);
    await server.initialize({ client: 'vscode', commands: [CONFIRM, SHOW_EXPLANATION], diagnostics: 'push' });
    const opened = await server.open(FILE, readFileSync(FILE, 'utf8'));
    const found = opened.diagnostics.find((each) => each.code === 'LG101' && !(each.data as { hint?: boolean }).hint);
    assert.ok(found);
    uri = opened.uri;
    key = (found.data as { key: Key }).key;
    assert.match(found.codeDescription?.href ?? '', /^vscode:\/\/loopgrad\.loopgrad\/rules\/LG101\?language=en$/);
  });

  after(() => server?.close());

  const explain = (): Promise<Explanation> => server.command('loopgrad.explain', { code: 'LG101', key });

  async function actions(): Promise<CodeAction[]> {
    const { finding } = await explain();
    const context = {
      diagnostics: [{ range: finding!.range, message: '', code: 'LG101', source: 'loopgrad' }],
      only: ['quickfix'],
    };
    const answer = await server.connection.sendRequest(CodeActionRequest.type, { textDocument: { uri }, range: finding!.range, context });
    return answer as CodeAction[];
  }

  test('explains a finding by its key: enough to draw it', async () => {
    const { finding, markdown, href } = await explain();
    assert.ok(finding && href);
    assert.match(markdown ?? '', /^# LG101/);
    assert.deepEqual(finding.key, key);
    assert.equal(finding.uri, uri);
    assert.ok(finding.story.every((step) => step.uri === uri && step.roleText && step.source));
    assert.ok(draw(finding, undefined, english));
  });

  test('a key has code, path, line and column: so a report of confirm is told by it', () => {
    assert.deepEqual(key.map((part) => typeof part), ['string', 'string', 'number', 'number']);
    assert.equal(key[0], 'LG101');
  });

  test('a finding that is gone is null', async () => {
    const gone: Explanation = await server.command('loopgrad.explain', { code: 'LG101', key: ['LG101', 'x', 1, 1] });
    assert.equal(gone.finding, null);
  });

  test('its actions: fixes first, the preferred one resolved to an edit, then commands of the client', async () => {
    const found = await actions();
    const preferred = found.find((action) => action.isPreferred);
    assert.equal(found.indexOf(preferred!), 0);
    const { edit } = await server.connection.sendRequest(CodeActionResolveRequest.type, preferred!);
    assert.ok(edit?.documentChanges?.length || Object.keys(edit?.changes ?? {}).length);
    const commands = found.flatMap((action) => action.command ?? []);
    const shown = commands.find((command) => command.command === SHOW_EXPLANATION);
    assert.deepEqual((shown?.arguments?.[0] as { key: Key }).key, key);
    assert.ok(commands.some((command) => command.command === CONFIRM));
  });

  test('a traceback leads to the finding', async () => {
    const text = `  File "${process.cwd()}/${FILE}", line 70, in main\n    loss.backward()\nRuntimeError: Trying to backward through the graph a second time`;
    const cause: Cause = await server.command('loopgrad.fromTraceback', { text });
    assert.equal(cause.finding?.code, 'LG101');
    assert.equal(cause.uri, uri);
  });

  test('what a run has shown is taken', async () => {
    const finding = { code: key[0], path: key[1], range: { start: { line: key[2], column: key[3] } }, status: 'confirmed' };
    const report = { verdict: 'confirmed', device: 'cpu', iteration: 2, findings: [finding] };
    assert.deepEqual(await server.command('loopgrad.confirmed', { report, folder: process.cwd() }), { marked: 1 });
  });
});
