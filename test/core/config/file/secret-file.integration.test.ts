import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { formatMistake } from '#core/config/file/mistake.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-secrets-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (name: string, content: string | Buffer) => writeFile(join(folder, name), content);
const documentWith = (value: string) => parseDocument(`key: "${value}"`, join(folder, 'gateway.yaml'), {});
const valueOf = (value: string) => documentWith(value).values()['key'];
const mistakesIn = (value: string) =>
  documentWith(value).mistakes.map((mistake) => formatMistake(mistake).replaceAll(folder, ''));

describe('a secret in a file', () => {
  it.each([
    ['as it stands', 'sk-1', 'sk-1'],
    ['without the line break of an editor', 'sk-1\n', 'sk-1'],
    ['without one of Windows', 'sk-1\r\n', 'sk-1'],
    ['with lines inside it', 'a\nb\n', 'a\nb'],
    ['without a byte order mark', '\uFEFFsk-1', 'sk-1'],
    ['without filling in what looks like a variable', '${HOME}', '${HOME}'],
  ])('is used %s', async (_how, content, value) => {
    await write('openai', content);
    expect(valueOf(`\${file:${folder}/openai}`)).toBe(value);
  });

  it('may be named relative to gateway.yaml, through a link, and within other text', async () => {
    await write('real', 'secret\n');
    await symlink(join(folder, 'real'), join(folder, 'link'));
    expect(valueOf('smtps://u:${file:./link}@mail.test')).toBe('smtps://u:secret@mail.test');
  });

  it('has a default where the file does not exist', () => {
    expect(valueOf('${file:/nowhere/openai:-}')).toBe('');
    expect(valueOf('${file:./nowhere:-fallback}')).toBe('fallback');
  });

  it.each([
    [
      'a file that does not exist',
      '${file:./nowhere}',
      '/nowhere does not exist; create it, or give a default: ${file:…:-…}',
    ],
    ['an empty file, also with a default', '${file:./empty:-x}', '/empty is empty; write the secret into it'],
    ['a folder', '${file:./}', ' is not a regular file; name a file that contains only the secret'],
    ['a long file', '${file:./long}', '/long is longer than 65536 bytes; name a file that contains only the secret'],
    ['bytes', '${file:./bytes}', '/bytes is not text; save only the secret, as UTF-8'],
  ])('is refused for %s', async (_what, value, mistake) => {
    await write('empty', '\n');
    await write('long', 'x'.repeat(65_537));
    await write('bytes', Buffer.from([0xff, 0xfe]));
    expect(mistakesIn(value)).toEqual([`gateway.yaml:1:6 key: the file ${mistake}`]);
  });

  it('is refused for a named pipe, without waiting for a writer', () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(mistakesIn('${file:./pipe}')).toEqual([expect.stringContaining('/pipe is not a regular file')]);
  });

  it.skipIf(process.getuid?.() === 0)('is refused when it may not be read', async () => {
    await write('closed', 'sk-1');
    await chmod(join(folder, 'closed'), 0);
    expect(mistakesIn('${file:./closed}')).toEqual([expect.stringContaining('(permission denied); give the user')]);
  });

  it.each(['${file:}', '${file}x${file:'])('is refused for the malformed %s', (value) => {
    expect(mistakesIn(value).length).toBeGreaterThan(0);
  });

  it('is in no message, where the name of its file is', async () => {
    await write('openai', 'sk-secret');
    const document = documentWith('${file:./openai}');
    expect(formatMistake(document.createMistake(['key'], 'is "sk-secret"', 'no'))).toBe(
      'gateway.yaml:1:6 key: is "${file:./openai}"; no',
    );
    expect(document.findVariableText(['key'])).toBe('${file:./openai}');
  });

  it('changes the fingerprint when it changes, so that a reload applies it', async () => {
    await write('openai', 'sk-1');
    const before = documentWith('${file:./openai}').fingerprint;
    await write('openai', 'sk-2');
    expect(documentWith('${file:./openai}').fingerprint).not.toBe(before);
  });
});
