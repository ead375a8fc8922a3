import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { looksLikeTraceback } from '../src/common/tracebackText';
import { clean, packagedPage, readAddress } from '../src/rules/pages';
import { Folder } from './folder';

test('the address of a rule names its page and language', () => {
  assert.deepEqual(readAddress('/rules/LG101', 'language=zh-cn', 'en'), { code: 'LG101', language: 'zh-cn' });
  assert.deepEqual(readAddress('/rules/LG101', '', 'en'), { code: 'LG101', language: 'en' });
  assert.deepEqual(readAddress('/rules/LG101', 'language=../../etc', 'zh-cn'), { code: 'LG101', language: 'zh-cn' });
});

test('other addresses name none', () => {
  for (const address of ['/rules/../../x', '/rules/LG1', '/rules/LG101/x', '/other/LG101', '', '/rules/lg101']) {
    assert.equal(readAddress(address, '', 'en'), undefined, address);
  }
});

test('the checkout has a page for each rule in both languages', async () => {
  const catalogue = readFileSync('server/loopgrad/rules/catalogue.py', 'utf8');
  const codes = new Set(catalogue.match(/LG\d{3}/g));
  assert.ok(codes.size >= 15);
  for (const code of codes) {
    const english = await packagedPage('.', { code, language: 'en' });
    const chinese = await packagedPage('.', { code, language: 'zh-cn' });
    assert.match(english ?? '', new RegExp(`^# ${code}`));
    assert.match(chinese ?? '', /[\u4e00-\u9fff]/);
    assert.doesNotMatch(english ?? '', /^<!--/m);
  }
});

test('the packaged page comes before the checkout, English where there is no other', async (context) => {
  const folder = new Folder(context);
  folder.write('bundled/server/loopgrad/rules/pages/en/LG101.md', '# LG101 packaged\n');
  folder.write('server/loopgrad/rules/pages/en/LG101.md', '# LG101 checkout\n');
  assert.equal(await packagedPage(folder.path, { code: 'LG101', language: 'zh-cn' }), '# LG101 packaged\n');
  assert.equal(await packagedPage(folder.path, { code: 'LG999', language: 'en' }), undefined);
});

test('remarks for the tests of a page are not shown', () => {
  assert.equal(clean('---\na: 1\n---\n\n# T\n<!-- outcome: grows -->\ntext\n'), '# T\ntext\n');
});

test('a traceback is known by its frames or by what PyTorch says', () => {
  for (const text of [
    'Traceback (most recent call last):\n  File "train.py", line 9, in main',
    'File ~/train.py:9, in main()',
    'Cell In[3], line 9',
    'RuntimeError: Trying to backward through the graph a second time',
    'one of the variables needed for gradient computation has been modified by an inplace operation',
    'element 0 of tensors does not require grad and does not have a grad_fn',
    'a leaf Variable that requires grad is being used in an in-place operation.',
  ]) {
    assert.ok(looksLikeTraceback(text), text);
  }
  for (const text of ['', 'import torch', 'see train.py']) assert.ok(!looksLikeTraceback(text), text);
});
