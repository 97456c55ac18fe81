import { describe, expect, it } from 'vitest';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../../../plugins/format/canonical/notes.ts';
import { messages } from '../../../../../../plugins/format/formats/messages/descriptor.ts';
import { decode } from '../fixture.ts';

const input_schema = { type: 'object', properties: {} };
const tool = (name: string, more: JsonObject = {}) => ({ name, input_schema, ...more });
const reference = (name: string) => ({ type: 'tool_reference', name });
const added = (name: string) => ({ type: 'tool_addition', tool: reference(name) });
const removed = (name: string) => ({ type: 'tool_removal', tool: reference(name) });
const defined = (name: string) => ({
  type: 'tool_addition',
  tool: { type: 'tool_definition', definition: tool(name) },
});

/** Changes of tools, each in a message of its own between the user and the answer. */
function changed(...blocks: JsonObject[]): JsonObject {
  const changes = blocks.map((block) => ({ role: 'system', content: [block] }));
  return {
    tools: [tool('early'), tool('late', { defer_loading: true })],
    messages: [{ role: 'user', content: 'Hi' }, ...changes],
  };
}

function adapted(body: JsonObject, quirks: ProfileSettings['quirks']) {
  const notes = new Notes();
  const target = { profile: mergeProfiles({ quirks }), notes, origin: 'x' };
  return { body: messages.text.adapt({ model: 'm', max_tokens: 9, ...body }, target), notes: notes.entries };
}

const cases: readonly (readonly [string, JsonObject[], string[], string[]])[] = [
  ['added', [added('late')], ['early', 'late'], ['tool_addition']],
  ['removed', [removed('early')], ['late'], ['tool_removal']],
  ['added and removed', [added('late'), removed('late')], ['early'], ['tool_addition', 'tool_removal']],
  ['removed and added', [removed('early'), added('early')], ['early', 'late'], ['tool_removal', 'tool_addition']],
  ['added by value', [defined('new')], ['early', 'late', 'new'], ['tool_addition']],
  ['defined and removed', [defined('new'), removed('new')], ['early', 'late'], ['tool_addition', 'tool_removal']],
];
const notesOf = (types: readonly string[]) => types.map((type) => `dropped content block ${type}`);

describe('tools that change in the middle of a Messages conversation', () => {
  it.each(cases)('a tool that was %s is declared as at the end of the history', (_how, blocks, names, types) => {
    const { conversation, notes } = decode(changed(...blocks));
    expect(conversation.tools.map((one) => ('name' in one ? one.name : one.form))).toEqual(names);
    expect(conversation.items).toHaveLength(1);
    expect(notes).toEqual(notesOf(types));
  });

  it.each(cases)('a Messages endpoint without betas gets the tools of the end: %s', (_how, blocks, names, types) => {
    const { body, notes } = adapted(changed(...blocks), {});
    expect((body['tools'] as JsonObject[]).map(({ name }) => name)).toEqual(names);
    expect(body['messages']).toEqual([{ role: 'user', content: 'Hi' }]);
    expect(notes).toEqual(expect.arrayContaining(notesOf(types)));
  });

  it.each([{}, { type: 'custom' }, { type: 'bash_20250124' }])('a removed tool %j cannot be chosen', (type) => {
    const body = { ...changed(removed('it')), tools: [tool('it', type)], tool_choice: { type: 'tool', name: 'it' } };
    expect(() => decode(body)).toThrow('`tool_choice.name` must be the name of one of the tools.');
  });

  it('Anthropic gets the changes as they are', () => {
    const body = { model: 'm', max_tokens: 9, ...changed(added('late')) };
    expect(adapted(body, { betas: true, claude: true, late_system: true }).body).toEqual(body);
  });

  it.each([[null], [[]]])('a summary whose changes are %j leaves the body as it is', (changes) => {
    const summary = { type: 'compaction', content: 'S', tool_changes: changes };
    const body = {
      tools: [],
      messages: [
        { role: 'assistant', content: [summary] },
        { role: 'user', content: 'Hi' },
      ],
    };
    expect(Object.keys(adapted(body, {}).body)).toEqual(['model', 'max_tokens', 'tools', 'messages']);
  });

  it('the changes that a summary of earlier turns holds count', () => {
    const summary = { type: 'compaction', content: 'S', tool_changes: [removed('early'), defined('new')] };
    const { tools } = changed();
    const { conversation } = decode({
      tools: tools as JsonObject[],
      messages: [
        { role: 'assistant', content: [summary] },
        { role: 'user', content: 'Hi' },
      ],
    });
    expect(conversation.tools.map((one) => ('name' in one ? one.name : one.form))).toEqual(['late', 'new']);
  });

  it('other parts of a message with a change stay', () => {
    const content = [{ type: 'text', text: 'New tools.' }, added('late')];
    const { body } = adapted({ ...changed(), messages: [{ role: 'user', content }] }, {});
    expect(body['messages']).toEqual([{ role: 'user', content: [content[0]] }]);
  });
});

describe('what only Claude’s endpoints know', () => {
  const hop = { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } };
  const cached = { type: 'text', text: 'A', cache_control: { type: 'ephemeral', scope: 'global' } };
  const body: JsonObject = {
    model: 'm',
    max_tokens: 9,
    system: [cached],
    tools: [tool('a', { cache_control: { type: 'ephemeral', scope: 'global' } })],
    messages: [
      { role: 'user', content: [cached] },
      { role: 'assistant', content: [hop, { type: 'text', text: 'B' }] },
      { role: 'assistant', content: [hop] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [cached] }] },
    ],
  };

  it('fallback blocks and scopes of caches are left out elsewhere, with notes', () => {
    const { body: sent, notes } = adapted(body, {});
    expect(JSON.stringify(sent)).not.toMatch(/fallback|scope/);
    expect(JSON.stringify(sent)).toContain('"cache_control":{"type":"ephemeral"}');
    expect(sent['messages']).toHaveLength(3);
    expect(notes).toContain('dropped content block fallback');
    expect(notes).toContain('dropped scope of system.cache_control');
  });

  it('fallback blocks and scopes of caches go to Anthropic and its clouds', () => {
    expect(adapted(body, { claude: true, late_system: true }).body).toEqual(body);
  });
});
