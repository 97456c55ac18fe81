import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../../plugins/format/canonical/notes.ts';
import { checkParameters } from '../../../../../plugins/format/formats/contract/parameters.ts';
import { readGeminiRequest } from '../../../../../plugins/format/formats/embeddings/convert.ts';
import { embeddings } from '../../../../../plugins/format/formats/embeddings/descriptor.ts';
import { VectorRepair } from '../../../../../plugins/format/formats/embeddings/vector-repair.ts';

const numbers = [0.5, -2, 1.25];
/** 32-bit floats, little-endian. */
const base64 = Buffer.from(new Float32Array(numbers).buffer).toString('base64');
const answer = (...vectors: readonly (string | number[])[]): JsonObject => ({
  object: 'list',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  usage: { prompt_tokens: 1, total_tokens: 1 },
});

function repaired(request: JsonObject, given: JsonObject) {
  const repair = new VectorRepair(request);
  return { body: repair.repairReply(given), notes: repair.notes };
}

const check = (input: unknown) => () =>
  checkParameters({ model: 'm', input } as JsonObject, embeddings.client.parameters, ['input']);

describe('vectors', () => {
  it.each([
    ['numbers become base64 for a client that asked for it', 'base64', numbers, base64],
    ['base64 becomes numbers for a client that asked for them', 'float', base64, numbers],
    ['base64 becomes numbers for a client that asked for nothing', undefined, base64, numbers],
  ])('%s', (_name, encoding_format, given, wanted) => {
    const { body } = repaired({ ...(encoding_format && { encoding_format }) }, answer(given, given));
    expect(body).toEqual(answer(wanted, wanted));
  });

  it.each([
    ['base64', base64],
    ['float', numbers],
  ])('in the encoding that the client asked for stay the same object: %s', (encoding_format, vector) => {
    const given = answer(vector);
    expect(repaired({ encoding_format }, given)).toEqual({ body: given, notes: [] });
    expect(repaired({ encoding_format }, given).body).toBe(given);
  });

  it.each([numbers, base64])('that are longer than the client asked for are noted: %j', (vector) => {
    expect(repaired({ dimensions: 2 }, answer(vector)).notes).toEqual(['dropped dimensions']);
    expect(repaired({ dimensions: 3 }, answer(vector)).notes).toEqual([]);
  });

  it.each([{ error: { message: 'no' } }, { data: [] }, { data: [null] }, answer([])])('leave %j as it is', (given) => {
    expect(repaired({ dimensions: 2 }, given)).toEqual({ body: given, notes: [] });
  });
});

describe('an input', () => {
  it.each([
    ['', '`input` must be a non-empty string or list.'],
    [[], '`input` must be a non-empty string or list.'],
    [[''], '`input[0]` must be non-empty.'],
    [['a', ''], '`input[1]` must be non-empty.'],
    [[[]], '`input[0]` must be non-empty.'],
  ])('that is empty is refused, as at OpenAI: %j', (input, message) => {
    expect(check(input)).toThrow(message);
  });

  it.each(['a', ['a', 'b'], [1, 2], [[1], [2]], [{ image: 'x' }], ' '])('%j is accepted', (input) => {
    expect(check(input)).not.toThrow();
  });

  it('of Google’s client that is empty is refused before a server of OpenAI’s format answers it with anything', () => {
    expect(() => readGeminiRequest({ content: { parts: [{ text: '' }] } }, new Notes())).toThrow('content.parts');
  });
});
