import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { RequestContent } from '../../../../../plugins/format/request/request-content.ts';
import { rewriteModel } from '../../../../../plugins/format/routes/pass-through/rewrite-model.ts';

function rewrite(text: string, model = 'there'): string {
  const body = JSON.parse(text) as JsonObject;
  return rewriteModel(RequestContent.fromText(text, body), body['model'], model).toString();
}

describe('rewriting the model', () => {
  it('changes nothing but the name', () => {
    const text = '{ "big": 12345678901234567890,\n "model" : "here", "messages":[{"model":"here"}] }';
    expect(rewrite(text)).toBe('{ "big": 12345678901234567890,\n "model" : "there", "messages":[{"model":"here"}] }');
  });

  it('returns the very bytes when the name is the same', () => {
    const content = RequestContent.fromText('{"model":"there"}', { model: 'there' });
    expect(rewriteModel(content, 'there', 'there')).toBe(content.bytes);
  });

  it('is not taken in by the word inside of strings', () => {
    const text = String.raw`{"a":"\"model\":\"x\"","b":["model",{"model":1}],"model":"here"}`;
    expect(rewrite(text)).toBe(text.replace('"here"', '"there"'));
  });

  it('leaves no other name where the text does not say what the parser has read', () => {
    expect(rewrite('{"model":"first","model":"second"}')).toBe('{"model":"there"}');
  });

  it('finds a name that is written with escapes', () => {
    expect(rewrite(String.raw`{"model":"h\u0065re" ,"x":1.0}`)).toBe('{"model":"there" ,"x":1.0}');
  });

  it('understands a key that is written with escapes', () => {
    expect(JSON.parse(rewrite(String.raw`{"mod\u0065l":"here","x":1}`))).toEqual({ model: 'there', x: 1 });
  });

  it('means the same as parsing, replacing and writing, for any body', () => {
    const body = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 });
    fc.assert(
      fc.property(body, fc.string(), fc.string(), fc.constantFrom(undefined, 2), (rest, here, there, indent) => {
        const value = { ...rest, model: here };
        const text = JSON.stringify(value, null, indent);
        expect(JSON.parse(rewrite(text, there))).toEqual(JSON.parse(JSON.stringify({ ...value, model: there })));
      }),
    );
  });
});
