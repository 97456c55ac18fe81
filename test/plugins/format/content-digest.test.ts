import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalizeArguments } from '../../../plugins/format/content/canonical-arguments.ts';
import { ContentDigest } from '../../../plugins/format/content/content-digest.ts';

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

function digestOf(...texts: readonly string[]): string | undefined {
  const content = new ContentDigest();
  for (const text of texts) content.addText(text);
  return content.digest;
}

describe('the digest of a text', () => {
  it('is its SHA-256', () => {
    expect(digestOf('Good morning, 世界 😀')).toBe(sha256('Good morning, 世界 😀'));
  });

  it('does not depend on how the text came, halves of characters included', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.nat(300),
        fc.array(fc.nat()),
        (word, times, cuts) => {
          const text = word.repeat(times);
          const at = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].toSorted(
            (a, b) => a - b,
          );
          const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
          expect(digestOf(...pieces)).toBe(text === '' ? undefined : sha256(text));
        },
      ),
    );
  });

  it('is undefined for an answer that says nothing', () => {
    expect(digestOf('')).toBeUndefined();
  });
});

describe('the digest of an answer with more than a text', () => {
  it('tells text, reasoning and calls apart', () => {
    const content = new ContentDigest();
    content.addReasoning('Hm.');
    content.addText('Now.');
    content.startCall(0, 'get_time', 'call_1');
    content.addInput(0, '{"zone": ');
    content.addInput(0, '"WIB"}');
    const lines = `reasoning ${sha256('Hm.')}\ncall ${sha256('get_time\n{"zone":"WIB"}')}\n`;
    expect(content.digest).toBe(sha256(Buffer.concat([Buffer.from('Now.'), Buffer.from([0xff]), Buffer.from(lines)])));
  });

  it('keeps calls with one key and several ids apart', () => {
    const content = new ContentDigest();
    const other = new ContentDigest();
    for (const [at, id] of ['a', 'b'].entries()) {
      content.startCall(0, 'f', id);
      content.addInput(0, `{"n":${at}}`);
      other.startCall(at, 'f', id);
      other.addInput(at, `{"n":${at}}`);
    }
    expect(content.digest).toBe(other.digest);
    expect(content.hasSameContent(other)).toBe(true);
  });

  it('is undefined where arguments are too long to be kept', () => {
    const content = new ContentDigest();
    content.startCall(0, 'f', 'a');
    content.addInput(0, 'x'.repeat(2_000_000));
    expect(content.digest).toBeUndefined();
  });
});

describe('arguments', () => {
  it.each([
    ['', '{}'],
    [' \n', '{}'],
    ['{ "b" : 1, "a": [true, null, "é\\u00e9"] }', '{"a":[true,null,"éé"],"b":1}'],
    ['{"10":1,"9":2}', '{"10":1,"9":2}'],
    [
      '{"n":[1.50,1000,1e3,-0,0.0,12345678901234567890,1.0e-7]}',
      '{"n":[15e-1,1e3,1e3,0,0,1234567890123456789e1,1e-7]}',
    ],
    ['{"half', '{"half'],
    ['[1]', '[1]'],
    ['*** Begin Patch', '*** Begin Patch'],
    ['{"😀":1,"\uffee":2}', '{"\uffee":2,"😀":1}'],
  ])('%j are %j', (given, canonical) => {
    expect(canonicalizeArguments(given)).toBe(canonical);
  });
});
