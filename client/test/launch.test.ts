import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';

import { launchesOf, readEnvironmentFile, splitWords } from '../src/confirm/launch';

const script = path.resolve('/w/src/train.py');
const variables = { workspaceFolder: path.resolve('/w'), userHome: '/home/u', environment: { HOME: '/home/u' } };
const launches = (...configurations: unknown[]): ReturnType<typeof launchesOf> => launchesOf(configurations, script, variables);
const own = { name: 'Train', type: 'debugpy', request: 'launch', program: '${workspaceFolder}/src/train.py' };

test('the configuration of the script gives arguments, folder, environment and interpreter', () => {
  const [launch] = launches({
    ...own,
    args: ['--data', '${workspaceFolder}/data', '--epochs', 3],
    cwd: '${fileDirname}',
    env: { SEED: '1', ROOT: '${workspaceFolder}' },
    envFile: '${workspaceFolder}/.env',
    python: '${env:HOME}/env/bin/python',
  });
  assert.deepEqual(launch, {
    name: 'Train',
    exact: true,
    module: undefined,
    args: ['--data', `${variables.workspaceFolder}/data`, '--epochs', '3'],
    unsettled: [],
    cwd: path.dirname(script),
    env: { SEED: '1', ROOT: variables.workspaceFolder },
    envFile: `${variables.workspaceFolder}/.env`,
    python: ['/home/u/env/bin/python'],
  });
});

test('one that names the script comes before one that runs the open file', () => {
  const any = { ...own, name: 'Current File', program: '${file}', args: ['--any'] };
  assert.deepEqual(launches(any, own).map((each) => [each.name, each.exact]), [
    ['Train', true],
    ['Current File', false],
  ]);
});

test('those of other scripts, languages and ways of starting are passed over', () => {
  assert.deepEqual(
    launches(
      { ...own, program: '${workspaceFolder}/src/other.py' },
      { ...own, request: 'attach' },
      { ...own, type: 'node' },
      { ...own, program: undefined },
      { ...own, program: ['not', 'text'] },
      null,
      'text',
    ),
    [],
  );
});

test('a module is found by the file that it is', () => {
  const [launch] = launches({ ...own, program: undefined, module: 'src.train' });
  assert.equal(launch?.module, 'src.train');
  assert.equal(launches({ ...own, program: undefined, module: 'train', cwd: '${workspaceFolder}/src' }).length, 1);
  assert.equal(launches({ ...own, program: undefined, module: 'src.other' }).length, 0);
  assert.equal(launchesOf([{ ...own, program: undefined, module: 'src' }], path.resolve('/w/src/__main__.py'), variables).length, 1);
});

test('what only the debugger can ask for is left out and told', () => {
  const [launch] = launches({ ...own, args: ['--a', '${input:b}', '${command:pickArgs}'], python: '${command:python.interpreterPath}' });
  assert.deepEqual(launch?.args, ['--a']);
  assert.deepEqual(launch?.unsettled, ['${input:b}', '${command:pickArgs}']);
  assert.equal(launch?.python, undefined);
});

test('arguments in one string are split as a shell does', () => {
  assert.deepEqual(launches({ ...own, args: '--name "a b" c' })[0]?.args, ['--name', 'a b', 'c']);
  assert.deepEqual(splitWords(`a\\ b 'c "d' "" e"f'g"h \\"`), ['a b', 'c "d', '', "ef'gh", '"']);
  assert.deepEqual(splitWords('  '), []);
});

test('an environment file is read as debugpy reads it', () => {
  const text = '# remark\nA=1\nexport B = "two words"\nC=\'x#y\'\nD=z # remark\nnonsense\nE=\r\n';
  assert.deepEqual(readEnvironmentFile(text), { A: '1', B: 'two words', C: 'x#y', D: 'z', E: '' });
});
