import { describe, expect, it } from 'vitest';
import { commonNameRules, ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { geminiCodec } from '../../../../plugins/format/formats/gemini/codec.ts';

const tool = (name: string, namespace?: string) =>
  ({
    name,
    namespace,
    form: 'function',
    description: undefined,
    schema: undefined,
    strict: undefined,
    grammar: undefined,
  }) as const;

describe('tools of different groups with the same flat name', () => {
  const tools = [tool('b__c', '1a'), tool('c', '1a__b')];

  it('get different names that the upstream allows', () => {
    const names = new ToolNames({ tools, items: [] }, geminiCodec.toolNames);
    const wireNames = tools.map(({ name, namespace }) => names.toWire(name, namespace));
    expect(new Set(wireNames).size).toBe(2);
    for (const wireName of wireNames) expect(wireName).toMatch(/^[A-Za-z_][\w.:-]{0,63}$/);
  });

  it('are found by their names', () => {
    const names = new ToolNames({ tools, items: [] }, commonNameRules);
    for (const { name, namespace, form } of tools)
      expect(names.fromWire(names.toWire(name, namespace))).toEqual({ name, namespace, form });
  });
});
