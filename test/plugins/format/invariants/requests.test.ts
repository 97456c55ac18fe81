import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import type {
  Conversation,
  Item,
  Part,
  StateKind,
  ToolCall,
} from '../../../../plugins/format/canonical/conversation.ts';
import { normalizeCalls, joinTexts, groupIntoTurns } from '../../../../plugins/format/canonical/dialogue.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { deriveOrigin, tagState } from '../../../../plugins/format/canonical/opaque-state.ts';
import { isClientTool } from '../../../../plugins/format/canonical/tool-names.ts';
import { PassThrough } from '../../../../plugins/format/routes/pass-through/pass-through.ts';
import { CallTranslator } from '../../../../plugins/format/routes/translation/translator.ts';
import { type TextFormat, conversational } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { settings, tools, turns, written } from './conversations.ts';
import { exchange, formats, pairs, parsed, requestOf, words } from './fixture.ts';

/** Texts are parted and joined in their own way by each format, and say in words that a tool has failed. */
const plain = (text: string): string =>
  text
    .replace(/Media from this tool follows( in a message)?\.$/, '')
    .replace(/^Error:/, '')
    .replace(/\s/g, '');
const picturesOf = (parts: readonly Part[]) => parts.flatMap((part) => (part.type === 'image' ? [part.source] : []));
const callOf = ({ id, name, input }: ToolCall) => ({ id, name, input: parsed(input) });

/** What a dialogue means, turn by turn. Pictures that tools have shown count as the user's, who hands them on. */
function meaningOf(items: readonly Item[]): unknown[] {
  return groupIntoTurns(normalizeCalls(items)).map((turn) => {
    if (turn.role === 'assistant') {
      const said = turn.items.flatMap((item) => (item.type === 'message' ? item.parts : []));
      return {
        text: plain(joinTexts(said)),
        calls: turn.items.filter((item) => item.type === 'tool_call').map(callOf),
      };
    }
    if (turn.role === 'system') return { system: plain(joinTexts(turn.parts)) };
    return {
      results: turn.results.map(({ id, parts, isError }) => ({
        id,
        text: plain(joinTexts(parts)),
        isError: isError || joinTexts(parts).startsWith('Error:'),
      })),
      pictures: picturesOf([...turn.results.flatMap(({ parts }) => parts), ...turn.parts]),
      text: plain(joinTexts(turn.parts)),
    };
  });
}

function settingsOf({ instructions, tools: known, toolChoice, maxOutputTokens, temperature, stop }: Conversation) {
  const described = known.filter(isClientTool).map(({ name, description, schema }) => ({ name, description, schema }));
  const asked = { type: toolChoice?.type ?? 'auto', name: toolChoice?.name };
  return { instructions: plain(instructions.join('')), tools: described, asked, maxOutputTokens, temperature, stop };
}

describe.each(formats)('%s: any conversation', (format) => {
  /** Responses knows no stop sequences. */
  const hasStop = format !== 'responses';

  it('a conversation that is encoded and decoded keeps its meaning', () => {
    fc.assert(
      fc.property(turns, settings, (dialogue, wanted) => {
        const conversation = { ...wanted, items: dialogue.flat(), tools } as Conversation;
        const body = written(format, conversation);
        const read = conversational[format].client.text.decodeRequest(body, new Notes());
        expect(meaningOf(read.items)).toEqual(meaningOf(conversation.items));
        expect(settingsOf(read)).toEqual(settingsOf({ ...conversation, stop: hasStop ? conversation.stop : [] }));
      }),
    );
  });

  it('an encoded conversation begins the same from turn to turn, so that prompt caches hit', () => {
    fc.assert(
      fc.property(turns, settings, (dialogue, wanted) => {
        const bodyOf = (count: number) => written(format, { ...wanted, items: dialogue.slice(0, count).flat(), tools });
        const [short, long] = [bodyOf(dialogue.length - 2), bodyOf(dialogue.length)].map(split) as [Split, Split];
        expect(long.rest).toBe(short.rest);
        expect(long.dialogue.startsWith(short.dialogue)).toBe(true);
      }),
    );
  });
});

interface Split {
  /** The members that are the dialogue, as text without its last bracket. */
  readonly dialogue: string;
  readonly rest: string;
}

function split(body: JsonObject): Split {
  const { messages, input, contents, ...rest } = body;
  return { dialogue: JSON.stringify(messages ?? input ?? contents).slice(0, -1), rest: JSON.stringify(rest) };
}

/** The upstream that a request goes to, and two that it does not: another one, and another account of the same. */
const own = upstreamAt('https://own.example/v1');
const others = [
  upstreamAt('https://other.example/v1', { name: 'two' }),
  upstreamAt('https://own.example/v1', { name: 'three' }),
];
const kinds: readonly StateKind[] = ['signature', 'redacted', 'encrypted', 'thought', 'none'];
const ownKinds: Readonly<Record<TextFormat, readonly StateKind[]>> = {
  chat: [],
  responses: ['encrypted'],
  messages: ['signature', 'redacted'],
  gemini: ['thought'],
};

interface TaggedState {
  readonly kind: StateKind;
  readonly origin: string | undefined;
  readonly data: string;
}
/** Each its own text, so that it can be found wherever it goes. */
const states: fc.Arbitrary<TaggedState[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      origin: fc.constantFrom(deriveOrigin(own), ...others.map(deriveOrigin), undefined),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((list) => list.map((one, index) => ({ ...one, data: `rs_${index}:U0VBTC${'ABCDEFGH'[index]}SEALED` })));
const tagged = ({ kind, origin, data }: TaggedState) =>
  origin === undefined ? data : tagState({ kind, origin, data });
const marker = ({ data }: TaggedState) => data.slice(data.indexOf(':') + 1);

/** True when a text is in a body, as it is or inside of base64 at any place. */
function isIn(body: string, text: string): boolean {
  const decoded = (body.match(/[A-Za-z0-9+/]{8,}=*/g) ?? []).map((run) => Buffer.from(run, 'base64').toString());
  return [body, ...decoded].some((one) => one.includes(text));
}

/** The request of a client that sends back reasoning state. */
const handBack: Readonly<Record<TextFormat, (list: readonly TaggedState[], thought: string) => JsonObject>> = {
  chat: (list, thought) => ({
    model: 'm',
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Yes',
        reasoning_content: thought.repeat(list.length),
        reasoning_details: list.map((state) => ({
          type: 'reasoning.encrypted',
          data: tagged(state),
          text_length: thought.length,
        })),
      },
      { role: 'user', content: 'And?' },
    ],
  }),
  responses: (list, thought) => ({
    model: 'm',
    input: [
      { role: 'user', content: 'Hi' },
      ...list.map((state, index) => ({
        type: 'reasoning',
        id: `rs_${index}`,
        summary: [{ type: 'summary_text', text: thought }],
        encrypted_content: tagged(state),
      })),
      { role: 'assistant', content: [{ type: 'output_text', text: 'Yes' }] },
      { role: 'user', content: 'And?' },
    ],
  }),
  messages: (list, thought) => ({
    model: 'm',
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          ...list.map((state) =>
            state.kind === 'redacted'
              ? { type: 'redacted_thinking', data: tagged(state) }
              : { type: 'thinking', thinking: thought, signature: tagged(state) },
          ),
          { type: 'text', text: 'Yes' },
        ],
      },
      { role: 'user', content: 'And?' },
    ],
  }),
  gemini: (list, thought) => ({
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      {
        role: 'model',
        parts: [
          ...list.map((state) => ({
            text: thought,
            thought: true,
            thoughtSignature: Buffer.from(tagged(state)).toString('base64'),
          })),
          { text: 'Yes' },
        ],
      },
      { role: 'user', parts: [{ text: 'And?' }] },
    ],
  }),
};

describe.each(pairs)('reasoning state, from a client of %s to %s', (client, upstream) => {
  it('reasoning state of a translated request goes only to the upstream that made it', () => {
    fc.assert(
      fc.property(states, words, (list, thought) => {
        const request = requestOf(client, handBack[client](list, thought));
        const route = routeTo({ ...own, formats: [upstream] });
        const body = String(
          new CallTranslator(exchange, request).translate(route, conversational[upstream]).request.body,
        );
        for (const state of list) {
          const isOwn = state.origin === deriveOrigin(own) && ownKinds[upstream].includes(state.kind);
          if (!isOwn) expect(isIn(body, marker(state))).toBe(false);
        }
        expect(isIn(body, 'dps1')).toBe(false);
      }),
    );
  });
});

describe.each(formats)('reasoning state, from a client of %s to an upstream of the same', (format) => {
  const route = routeTo({ ...own, formats: [format] });
  const bodyFor = (list: readonly TaggedState[], thought: string): string =>
    String(new PassThrough(exchange, requestOf(format, handBack[format](list, thought)), route).request.body);

  it('tagged reasoning state of a same-format request goes only to the upstream that made it', () => {
    fc.assert(
      fc.property(states, words, (list, thought) => {
        const body = bodyFor(list, thought);
        for (const state of list) {
          const isForeign = state.origin !== undefined && state.origin !== deriveOrigin(own);
          if (isForeign) expect(isIn(body, marker(state))).toBe(false);
        }
        expect(isIn(body, 'dps1')).toBe(false);
      }),
    );
  });

  it('reasoning state is returned to its upstream unchanged', () => {
    for (const kind of ownKinds[format]) {
      const body = bodyFor([{ kind, origin: deriveOrigin(own), data: 'rs_0:U0VBTCBSEALED' }], 'Hm.');
      expect(body).toContain('"rs_0:U0VBTCBSEALED"');
    }
  });
});

describe.each(formats.filter((format) => ownKinds[format].length > 0))('reasoning state of %s', (format) => {
  it('reasoning state of a translated reply is returned to its upstream unchanged', () => {
    for (const kind of ownKinds[format]) {
      const list: TaggedState[] = [{ kind, origin: deriveOrigin(own), data: 'rs_0:U0VBTCBSEALED' }];
      const route = routeTo({ ...own, formats: [format] });
      const request = requestOf(format, handBack[format](list, 'Hm.'));
      expect(
        String(new CallTranslator(exchange, request).translate(route, conversational[format]).request.body),
      ).toContain('U0VBTCBSEALED');
    }
  });
});
