import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';

import { anchored, isSettled, substitute, substituteCommand, substituteValues } from '../src/common/variables';

const variables = {
  workspaceFolder: '/w',
  folders: new Map([['lib', '/lib']]),
  userHome: '/home/u',
  environment: { CUDA: '1' },
  interpreter: ['/usr/bin/python3', '-X', 'dev'],
};

test('known variables are replaced', () => {
  assert.equal(substitute('${workspaceFolder}/.venv/bin/python', variables), '/w/.venv/bin/python');
  assert.equal(substitute('${userHome}:${env:CUDA}:${workspaceFolder:lib}', variables), '/home/u:1:/lib');
});

test('a variable of the environment that is not set is empty, as in VS Code', () => {
  assert.equal(substitute('a${env:NONE}b', variables), 'ab');
});

test('what is not known stays as it is written, and shows up in the message', () => {
  assert.equal(substitute('${workspaceFolder:other} ${config:x}', variables), '${workspaceFolder:other} ${config:x}');
  assert.equal(substitute('${workspaceFolder}', { ...variables, workspaceFolder: undefined }), '${workspaceFolder}');
});

test('the interpreter brings its arguments along where it stands alone', () => {
  assert.deepEqual(substituteCommand(['${interpreter}', '-m', 'loopgrad'], variables), [
    '/usr/bin/python3',
    '-X',
    'dev',
    '-m',
    'loopgrad',
  ]);
  assert.deepEqual(substituteCommand(['${interpreter}.sh'], variables), ['/usr/bin/python3.sh']);
});

test('a replaced value is not read as a variable again', () => {
  const tricky = { ...variables, environment: { A: '${userHome}' } };
  assert.equal(substitute('${env:A}', tricky), '${userHome}');
});

test('variables of the file are known only where there is one', () => {
  const file = path.join('/w', 'src', 'train.py');
  assert.equal(substitute('${fileDirname}/${fileBasenameNoExtension}', { ...variables, file }), '/w/src/train');
  assert.equal(substitute('${relativeFile}', { ...variables, file }), path.join('src', 'train.py'));
  assert.equal(substitute('${file}', variables), '${file}');
});

test('what an editor would have to ask for is not settled', () => {
  assert.ok(!isSettled('--seed=${input:seed}'));
  assert.ok(isSettled('--seed=1'));
});

test('values of an environment are replaced one by one', () => {
  assert.deepEqual(substituteValues({ DATA: '${workspaceFolder}/data', N: '3' }, variables), { DATA: '/w/data', N: '3' });
});

test('a relative program lies in the folder, a bare name on the PATH', () => {
  assert.deepEqual(anchored(['./tools/loopgrad', 'x'], '/w'), [path.resolve('/w', 'tools/loopgrad'), 'x']);
  assert.deepEqual(anchored(['loopgrad'], '/w'), ['loopgrad']);
  assert.deepEqual(anchored(['/opt/loopgrad'], '/w'), ['/opt/loopgrad']);
  assert.deepEqual(anchored([], '/w'), []);
});
