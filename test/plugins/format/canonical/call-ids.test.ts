import { describe, expect, it } from 'vitest';
import { CallIds, appendNumber, toPlainId } from '../../../../plugins/format/canonical/call-ids.ts';
import { normalizeInput } from '../../../../plugins/format/canonical/stored-reasoning.ts';

describe('ids of calls', () => {
  it('the first call keeps its id, and a later one gets it with a number', () => {
    const ids = new CallIds();
    const turns = ['a', 'a', 'b', 'a'].map((id) => [ids.addCall(id, 'look'), ids.matchResult(id)]);
    expect(turns).toEqual([
      ['a', 'a'],
      ['a_2', 'a_2'],
      ['b', 'b'],
      ['a_3', 'a_3'],
    ]);
  });

  it('results of several calls of one turn follow in their order', () => {
    const ids = new CallIds();
    expect([ids.addCall('a', 'look'), ids.addCall('a', 'look')]).toEqual(['a', 'a_2']);
    expect([ids.matchResult('a'), ids.matchResult('a'), ids.matchResult('a')]).toEqual(['a', 'a_2', 'a_2']);
  });

  it('a result belongs to the nearest call, even if an earlier one has none', () => {
    const ids = new CallIds();
    ids.addCall('a', 'look');
    ids.endTurn();
    expect([ids.addCall('a', 'look'), ids.matchResult('a')]).toEqual(['a_2', 'a_2']);
  });

  it('an id that was made is not given again', () => {
    const ids = new CallIds();
    const made = ['a', 'a', 'a_2', 'a'].map((id) => ids.addCall(id, 'look'));
    expect(made).toEqual(['a', 'a_2', 'a_2_2', 'a_3']);
  });

  it('empty ids are filled in', () => {
    const ids = new CallIds();
    expect([ids.addCall('', 'look'), ids.addCall('', 'look'), ids.matchResult(''), ids.matchResult('')]).toEqual([
      'call_1',
      'call_2',
      'call_1',
      'call_2',
    ]);
  });

  it.each(['a', 'functions.Bash:0', 'x'.repeat(64), 'é'.repeat(9)])(
    'a number makes an id of %s that Anthropic and OpenAI accept',
    (id) => {
      expect(appendNumber(id, 999)).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
      expect(appendNumber(id, 3)).not.toBe(appendNumber(id, 2));
      expect(toPlainId(appendNumber(id, 2))).toBe(appendNumber(id, 2));
    },
  );
});

it.each([
  ['{"b": [1, {"d":2,"c":1}], "a": null}', '{"a":null,"b":[1,{"c":1,"d":2}]}'],
  [' ', '{}'],
  ['*** Begin Patch\n', '*** Begin Patch'],
  ['{"__proto__": {"a":1}}', '{"__proto__":{"a":1}}'],
])('the canonical form of %s is the same however it is written', (input, canonical) => {
  expect(normalizeInput(input)).toBe(canonical);
});
