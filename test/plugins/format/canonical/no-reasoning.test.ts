import { describe, expect, it } from 'vitest';
import { compileGlob } from '#core/config/catalog/glob.ts';
import { mergeProfiles, profileIn } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { chat } from '../../../../plugins/format/formats/chat/descriptor.ts';
import { gemini } from '../../../../plugins/format/formats/gemini/descriptor.ts';
import { messages } from '../../../../plugins/format/formats/messages/descriptor.ts';
import { responses } from '../../../../plugins/format/formats/responses/descriptor.ts';
import { encodeForRoute } from '../../../../plugins/format/routes/translation/encode-for-route.ts';
import { vendors } from '../../../../plugins/upstream/vendors.ts';

const formats = { chat, responses, messages, gemini };
type Name = keyof typeof formats;

/** Requests that want no reasoning. */
const unreasoned: readonly (readonly [Name, JsonObject])[] = [
  ['chat', { messages: [{ role: 'user', content: 'Hi' }], reasoning_effort: 'none' }],
  ['responses', { input: 'Hi', reasoning: { effort: 'none' } }],
  [
    'gemini',
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { thinkingConfig: { thinkingBudget: 0 } },
    },
  ],
  ['messages', { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 99, thinking: { type: 'disabled' } }],
];

function sent(from: Name, body: JsonObject, [vendorName, model, to]: readonly [string, string, Name]) {
  const vendor = vendors.find(({ name }) => name === vendorName);
  if (vendor === undefined) throw new Error(vendorName);
  const matching = (vendor.models ?? []).filter(({ match }) => compileGlob(match)(model));
  const profile = profileIn(to, mergeProfiles(vendor, ...matching));
  const notes = new Notes();
  const conversation = formats[from].client.text.decodeRequest(body, notes);
  const names = new ToolNames(conversation, formats[to].text.toolNames);
  const wanted = { model, profile, isStream: false, names, notes };
  return { body: encodeForRoute(formats[to], conversation, wanted, '0a1b2c3d'), notes: notes.entries };
}

const clientsOf = (to: Name) => unreasoned.filter(([from]) => from !== to);
const cells = (targets: readonly (readonly [string, string, Name])[]) =>
  targets.flatMap((to) => clientsOf(to[2]).map(([from, body]) => [from, to, body] as const));

describe('no reasoning at the presets', () => {
  it.each(
    cells([
      ['deepseek-anthropic', 'deepseek-v4', 'messages'],
      ['zhipu-anthropic', 'glm-5', 'messages'],
      ['moonshot-anthropic', 'kimi-k3', 'messages'],
      ['dashscope-anthropic', 'qwen3-max', 'messages'],
      ['minimax-anthropic', 'MiniMax-M3', 'messages'],
      ['anthropic', 'claude-sonnet-5', 'messages'],
      ['anthropic', 'claude-opus-5', 'messages'],
      ['vertex-anthropic', 'claude-opus-5', 'messages'],
      ['minimax', 'MiniMax-M3', 'chat'],
      ['deepseek', 'deepseek-v4', 'chat'],
    ]),
  )('what %s asks for is said at %j', (from, to, body) => {
    expect(sent(from, body, to)).toMatchObject({ body: { thinking: { type: 'disabled' } }, notes: [] });
  });

  it.each(
    cells([
      ['anthropic', 'claude-fable-5', 'messages'],
      ['minimax', 'MiniMax-M2.7', 'chat'],
      ['deepseek', 'deepseek-reasoner', 'chat'],
    ]),
  )('%s gets a note that %j always reasons', (from, to, body) => {
    const { body: written, notes } = sent(from, body, to);
    expect(JSON.stringify(written)).not.toContain('disabled');
    expect(notes.join()).toMatch(/reasoning effort/);
  });

  it.each(cells([['anthropic', 'claude-haiku-4-5', 'messages']]))(
    'nothing is said for %s at %j, which does not think unless asked',
    (from, to, body) => {
      expect(sent(from, body, to).body).not.toHaveProperty('thinking');
    },
  );
});
