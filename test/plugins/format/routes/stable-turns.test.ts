import { describe, expect, it } from 'vitest';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { encodeForRoute } from '../../../../plugins/format/routes/translation/encode-for-route.ts';
import { firstChange, readPrompt } from '../../../cache/prompt.ts';
import { system, tools, turnOf } from '../../../cache/script.ts';
import type { Written } from '../../../conformance/clients/client-format.ts';
import { clients } from '../../../conformance/clients/index.ts';
import { picture } from '../../../conformance/sessions/script.ts';
import { upstreams } from '../../../conformance/upstreams/index.ts';
import { conversational, translatable, type TextFormat, type UpstreamTextFormat } from '../../../support/formats.ts';

/** Of a conversation with parallel calls, errors, images, ids that appear again, and system messages in between. */
const turns = 18;
const claude = { claude: true, signed_thinking: true, tool_result_images: true };

const routes: readonly (readonly [UpstreamTextFormat, string, ProfileSettings])[] = [
  ['chat', 'chat', {}],
  ['chat', 'chat with one system message', { quirks: { single_system: true } }],
  ['responses', 'responses', { quirks: { betas: true, freeform_tools: true } }],
  ['messages', 'messages of Anthropic', { quirks: { ...claude, automatic_caching: true, late_system: true } }],
  ['messages', 'messages of a cloud', { quirks: { ...claude } }],
  ['messages', 'messages of others', {}],
  ['gemini', 'gemini', {}],
  ['ollama', 'ollama', {}],
];

/** What a client sends in each turn, in its own format. */
function* bodiesOf(client: TextFormat): Generator<JsonObject> {
  const { write, echo } = clients[client];
  const entries: Written[] = [];
  for (let index = 0; index < turns; index++) {
    const { text, results, answer } = turnOf(1, index);
    for (const [at, result] of results.entries()) {
      const image = index % 5 === 3 && client !== 'chat' ? { image: `data:image/png;base64,${picture}` } : {};
      entries.push({ ...result, id: idOf(result.id, index - 1), isError: index % 5 === 4, ...image });
      if (at === results.length - 1 && index % 4 === 2 && client !== 'gemini') entries.push(reminder(client, index));
    }
    if (text !== undefined) entries.push({ type: 'text', by: 'user', text });
    yield write({ system, tools, entries, effort: 'high' }, { model: 'm', isStream: true });
    const blocks = answer.blocks.map((block) =>
      block.type === 'call' ? { ...block, id: idOf(block.id, index) } : block,
    );
    const whole = upstreams[client].whole({ ...answer, blocks, usage: undefined }, 'm');
    entries.push({ type: 'echo', raw: echo(whole, false) });
  }
}

/** Some vendors count calls from the beginning in each answer. */
function idOf(id: string, index: number): string {
  return index % 6 < 3 ? `call_${id.split('_').at(-1)}` : id;
}

function reminder(client: TextFormat, index: number): Written {
  const content = `Reminder ${index}.`;
  const role = client === 'responses' ? 'developer' : 'system';
  return { type: 'echo', raw: [{ ...(client === 'responses' && { type: 'message' }), role, content }] };
}

/** The body of an upstream: translated, or adapted where the formats are the same. */
function sent(client: TextFormat, to: UpstreamTextFormat, settings: ProfileSettings, body: JsonObject): JsonObject {
  const notes = new Notes();
  const profile = mergeProfiles(settings);
  const { text } = translatable[to];
  const origin = '0a1b2c3d';
  if (client === to) return text.adapt(body, { profile, notes, origin, endUser: 'e' });
  const conversation = conversational[client].client.text.decodeRequest(body, notes);
  const names = new ToolNames(conversation, text.toolNames);
  const target = { model: 'there', profile, isStream: true, names, notes, endUser: 'e' };
  return encodeForRoute(translatable[to], conversation, target, origin);
}

const pairs = (Object.keys(conversational) as TextFormat[]).flatMap((client) =>
  routes.map(([to, title, settings]) => [client, title, to, settings] as const),
);

describe('the prompt that a vendor caches', () => {
  it.each(pairs)('begins, from %s to %s, with all bytes of the turn before', (client, _title, to, settings) => {
    let before: ReturnType<typeof readPrompt> | undefined;
    for (const body of bodiesOf(client)) {
      const prompt = readPrompt(JSON.parse(JSON.stringify(sent(client, to, settings, body))) as JsonObject);
      if (before !== undefined) expect(firstChange(before, prompt)).toBeUndefined();
      before = prompt;
    }
  });
});
