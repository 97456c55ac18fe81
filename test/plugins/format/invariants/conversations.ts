import fc from 'fast-check';
import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Conversation, Item, Part } from '../../../../plugins/format/canonical/conversation.ts';
import { ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { type TextFormat, conversational } from '../../../support/formats.ts';
import { calls, clientTool, encodeWith, nothing, returns, says, text } from '../codec-fixture.ts';
import { jsonObject, words } from './fixture.ts';

const png = 'iVBORw0KGgo=';
const image = (data: string): Part => ({
  type: 'image',
  source: { type: 'base64', mediaType: 'image/png', data },
  detail: undefined,
});
const schema = { type: 'object', properties: { a: { type: 'string' } } };
export const tools = ['weather', 'now', 'list_files'].map((name) =>
  clientTool({ name, description: `Tells ${name}.`, schema }),
);

/** The body of a request in a format, as it travels. */
export function written(format: TextFormat, wanted: Partial<Conversation>, profile: ProfileSettings = {}): JsonObject {
  const conversation = { ...nothing, ...wanted };
  const names = new ToolNames(conversation, conversational[format].text.toolNames);
  return encodeWith(conversational[format], conversation, { profile, names }).body;
}

/** A request in a format that has something of everything. */
export function sampleRequest(format: TextFormat): JsonObject {
  const items: Item[] = [
    { type: 'message', role: 'user', parts: [text('Look'), image(png)] },
    says('assistant', 'Yes.'),
    calls('call_1', 'weather', '{"a":"x"}'),
    calls('call_2', 'now', '{}'),
    returns('call_1', [text('sunny')]),
    returns('call_2', [text('no clock')], true),
    says('user', 'And?'),
  ];
  return written(format, {
    instructions: ['Be brief.'],
    items,
    tools,
    toolChoice: { type: 'auto' },
    reasoning: { effort: 'low', budget: undefined, wantsText: true },
    output: { type: 'json_schema', name: 'it', description: undefined, schema, strict: undefined },
    topP: 0.5,
    maxOutputTokens: 5_000,
    stop: ['END'],
    user: 'someone',
  });
}

const picture = fc.base64String({ minLength: 4, maxLength: 12 }).map((data) => image(`iVBORw0KGgoA${data}`));
const userTurn = fc
  .tuple(words, fc.array(fc.oneof(words.map(text), picture), { maxLength: 2 }))
  .map(([first, more]): Item[] => [{ type: 'message', role: 'user', parts: [text(first), ...more] }]);
const result = fc.record({ words, pictures: fc.array(picture, { maxLength: 1 }), isError: fc.boolean() });

/** Words and up to three calls at once, with their results in any order. */
const answered = (turn: number): fc.Arbitrary<Item[]> =>
  fc
    .tuple(
      fc.option(words, { nil: undefined }),
      fc.array(fc.tuple(fc.constantFrom('weather', 'now', 'list_files'), jsonObject, result), { maxLength: 3 }),
      fc.boolean(),
    )
    .map(([spoken, called, isTurned]) => {
      const made = called.map(([name, input], index) => calls(`call_${turn}_${index}`, name, JSON.stringify(input)));
      const done = called.map(([, , { words: said, pictures, isError }], index) =>
        // Pictures of a failure cannot stand in its result everywhere.
        returns(`call_${turn}_${index}`, [text(said), ...(isError ? [] : pictures)], isError),
      );
      return [
        ...(spoken === undefined && called.length > 0 ? [] : [says('assistant', spoken ?? 'xy')]),
        ...made,
        ...(isTurned ? done.toReversed() : done),
      ];
    });

/** Turns of a conversation: a user's, an answer with what came of it, a user's… It begins and ends with a user. */
export const turns: fc.Arbitrary<Item[][]> = fc
  .tuple(userTurn, userTurn, userTurn, answered(0), answered(1), fc.boolean())
  .map(([first, second, third, one, two, isLong]) =>
    isLong ? [first, one, second, two, third] : [first, one, second],
  );

export const settings: fc.Arbitrary<Partial<Conversation>> = fc.record({
  instructions: fc.array(words, { maxLength: 2 }),
  maxOutputTokens: fc.integer({ min: 16, max: 30_000 }),
  temperature: fc.constantFrom(0, 0.25, 1),
  stop: fc.array(fc.constantFrom('END', 'STOP'), { maxLength: 1 }),
  toolChoice: fc.constantFrom(
    undefined,
    { type: 'auto' } as const,
    { type: 'none' } as const,
    { type: 'required' } as const,
    { type: 'tool', name: 'now' } as const,
  ),
});
