import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Item, Part } from '../../../../plugins/format/canonical/conversation.ts';
import { GrammarGuard } from '../../../../plugins/format/canonical/guard.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import type { CompleteReply } from '../../../../plugins/format/canonical/reply.ts';
import { commonNameRules, ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { conversational, type TextFormat, textFormats } from '../../../support/formats.ts';
import { readers } from '../../../support/readers/index.ts';
import { decodeWith, encodeWith, says, text } from '../codec-fixture.ts';
import { context } from '../invariants/fixture.ts';

const data = 'iVBORw0KGgoAAAANSUhEUg==';
const dot: Part = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data }, detail: undefined };
const drawn: Item = { type: 'message', role: 'assistant', parts: [text('A dot:'), dot] };
const caption = 'Images from your earlier answers:';

/** The answer of a model that draws, as the gateway understands it. */
function answered(client: TextFormat, source: Extract<Part, { type: 'image' }>['source']) {
  const guard = new GrammarGuard({
    toolNames: new ToolNames({ tools: [], items: [] }, commonNameRules),
    tagState: () => '',
    exchangeId: 'x1',
    estimateInputTokens: () => 9,
    rules: conversational[client].client.text,
  });
  const events = guard.push([
    { type: 'text', text: 'A dot:' },
    { type: 'image', source: source as Exclude<typeof source, { type: 'id' }> },
    { type: 'finish', reason: 'stop' },
    { type: 'end' },
  ]);
  const encoder = () => conversational[client].client.text.createEncoder(context);
  const stream = encoder();
  const whole = JSON.parse(JSON.stringify(encoder().encodeWhole(guard.reply as CompleteReply))) as JsonObject;
  return { stream: events.map((event) => stream.encodeEvent(event)).join(''), whole, notes: guard.notes.entries };
}

/** The history in which a client returns an answer. */
const returned: Readonly<Record<TextFormat, (answer: JsonObject) => JsonObject>> = {
  chat: ({ choices }) => ({ messages: [(choices as JsonObject[])[0]?.['message'] as JsonObject] }),
  responses: ({ output }) => ({ input: output ?? null }),
  messages: ({ content }) => ({ messages: [{ role: 'assistant', content: content ?? null }], max_tokens: 9 }),
  gemini: ({ candidates }) => ({ contents: [(candidates as JsonObject[])[0]?.['content'] as JsonObject] }),
};

describe.each(textFormats)('an image that a model has made, for a client of %s', (client) => {
  const hasImages = client !== 'messages';

  it('is in the answer, or noted and described', () => {
    const { stream, whole, notes } = answered(client, { type: 'base64', mediaType: 'image/png', data });
    for (const answer of [readers[client].stream(stream), readers[client].whole(whole)]) {
      expect(answer.images).toEqual(hasImages ? [data] : []);
      expect(answer.text).toMatch(hasImages ? /^A dot:$/ : /^A dot:\s*\[image omitted: image\/png, 1 KB; .*\]$/);
    }
    expect(notes).toEqual(hasImages ? [] : ['approximated images in the answer as text']);
  });

  it('at an address is in the answer, or its address is', () => {
    const { stream, whole } = answered(client, { type: 'url', url: 'https://images.test/dot.png' });
    expect(stream).toContain('https://images.test/dot.png');
    expect(JSON.stringify(whole)).toContain('https://images.test/dot.png');
  });

  it.runIf(hasImages)('is understood when the client returns it', () => {
    const { whole } = answered(client, { type: 'base64', mediaType: 'image/png', data });
    const { conversation, notes } = decodeWith(conversational[client].client.text, returned[client](whole));
    const parts = conversation.items.flatMap((item) => (item.type === 'message' ? item.parts : []));
    expect(parts).toEqual([text('A dot:'), dot]);
    expect(notes).toEqual([]);
  });
});

describe('an image that a model has made, in the next turn', () => {
  const items = [says('user', 'Draw.'), drawn, says('user', 'Now red.')];

  it.each(['chat', 'responses', 'messages'] as const)('is shown to %s by the user', (upstream) => {
    const { body, notes } = encodeWith(conversational[upstream], { items }, {});
    const turns = (body['messages'] ?? body['input']) as JsonObject[];
    expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(turns[1])).not.toContain(data);
    expect(JSON.stringify(turns[2])).toMatch(new RegExp(`${caption}.*${data}.*Now red`));
    expect(notes).toEqual(['approximated images in assistant messages as user message']);
  });

  it('is part of the answer for Gemini, whose newer models insist on its signature', () => {
    const { body, notes } = encodeWith(conversational.gemini, { items }, { model: 'gemini-3-pro-image-preview' });
    const image = { inlineData: { mimeType: 'image/png', data }, thoughtSignature: 'skip_thought_signature_validator' };
    expect(body['contents']).toMatchObject([{}, { role: 'model', parts: [{ text: 'A dot:' }, image] }, {}]);
    expect(notes).toContain('approximated missing thought signatures');
  });

  it.each(textFormats)('is dropped and noted for a model of %s that takes no images', (upstream) => {
    const profile = { capabilities: { images: false } };
    const { body, notes } = encodeWith(conversational[upstream], { items }, { profile });
    expect(JSON.stringify(body)).not.toContain(data);
    expect(notes).toContain('dropped image in assistant message');
  });

  it('does not reach a Chat endpoint as a member that only OpenRouter knows', () => {
    const url = { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } };
    const messages = [
      { role: 'assistant', content: 'A dot:', images: [url] },
      { role: 'user', content: 'Now red.' },
    ];
    const adapt = (reasoning: 'openrouter' | 'effort') => JSON.stringify(adaptedChat({ messages }, reasoning));
    expect(adapt('openrouter')).toBe(JSON.stringify({ messages }));
    expect(adapt('effort')).toMatch(new RegExp(`"role":"user","content":\\[.*${data}`));
    expect(adapt('effort')).not.toContain('"images"');
  });
});

function adaptedChat(body: JsonObject, reasoning: 'openrouter' | 'effort'): JsonObject {
  const profile = mergeProfiles({ quirks: { reasoning } });
  return conversational.chat.text.adapt(body, { profile, notes: new Notes(), origin: '0a1b2c3d' });
}
