import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { GrammarGuard } from '../../../../plugins/format/canonical/guard.ts';
import {
  type Citation,
  type CompleteReply,
  type Fragment,
  type ReplyEvent,
  contentOf,
  charactersPerBlock,
} from '../../../../plugins/format/canonical/reply.ts';
import { commonNameRules, ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { runs } from '../../../support/runs.ts';

const patch = { form: 'freeform', name: 'apply_patch', namespace: 'files' } as const;
const names = new ToolNames(
  {
    items: [],
    tools: [{ ...patch, description: undefined, schema: undefined, strict: undefined, grammar: undefined }],
  },
  commonNameRules,
);

function guardOf(): GrammarGuard {
  return new GrammarGuard({
    toolNames: names,
    tagState: (kind, data) => `tagged:${kind}:${data}`,
    exchangeId: 'abc',
    estimateInputTokens: () => 100,
  });
}

const text = (value: string): Fragment => ({ type: 'text', text: value });
const call = (key: number, id?: string, name?: string): Fragment => ({ type: 'call', key, id, name });
const input = (key: number, value: string): Fragment => ({ type: 'input', key, text: value });
const finish: Fragment = { type: 'finish', reason: 'stop' };
const end: Fragment = { type: 'end' };

const run = (fragments: readonly Fragment[]): ReplyEvent[] => guardOf().push(fragments);
const replyTo = (fragments: readonly Fragment[]): CompleteReply => {
  const guard = guardOf();
  guard.push(fragments);
  return guard.reply as CompleteReply;
};
/** Events in short: `start`, `+0 text`, `0 hello`, `-0`, `finish stop`. */
const shortly = (events: readonly ReplyEvent[]): string[] =>
  events.map((event) => {
    switch (event.type) {
      case 'block_start':
        return `+${event.index} ${event.block.type}`;
      case 'block_delta':
        return `${event.index} ${event.text}`;
      case 'citation':
        return `${event.index} citation`;
      case 'block_stop':
        return `-${event.index}`;
      case 'finish':
        return `finish ${event.reply.finish}`;
      default:
        return event.type;
    }
  });

describe('text', () => {
  it('a text opens a block, fills it and closes it', () => {
    expect(shortly(run([text('Hel'), text('lo'), finish, end]))).toEqual([
      'start',
      '+0 text',
      '0 Hel',
      '0 lo',
      '-0',
      'finish stop',
    ]);
  });

  it('an empty text opens no block', () => {
    const counted: Fragment = { type: 'usage', usage: { output: 1 } };
    expect(shortly(run([text(''), counted, finish, end]))).toEqual(['start', 'finish stop']);
  });

  it('text is emitted as it arrives', () => {
    const guard = guardOf();
    expect(shortly(guard.push([text('a')]))).toEqual(['start', '+0 text', '0 a']);
    expect(shortly(guard.push([text('b')]))).toEqual(['0 b']);
  });

  it('text after a break opens another block', () => {
    expect(replyTo([text('a'), { type: 'break' }, text('b'), finish, end]).blocks).toHaveLength(2);
  });

  it('a text block keeps the citations that arrived while it was open', () => {
    const citation = { url: 'https://a.example', title: undefined, quote: undefined, start: 0, end: 1 };
    const { blocks } = replyTo([text('a'), { type: 'citation', citation }, finish, end]);
    expect(blocks).toEqual([{ type: 'text', text: 'a', citations: [citation] }]);
  });
});

describe('reasoning', () => {
  it('reasoning is closed by its state', () => {
    const fragments: Fragment[] = [
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning_state', kind: 'signature', data: 'S' },
      { type: 'reasoning', text: 'well' },
      finish,
      end,
    ];
    expect(replyTo(fragments).blocks).toEqual([
      { type: 'reasoning', text: 'hm', state: 'tagged:signature:S', isRedacted: false },
      { type: 'reasoning', text: 'well', state: 'tagged:none:', isRedacted: false },
    ]);
  });

  it('redacted reasoning is a block of its own', () => {
    const fragments: Fragment[] = [
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning_state', kind: 'redacted', data: 'X' },
      finish,
      end,
    ];
    expect(replyTo(fragments).blocks.map((block) => block.type === 'reasoning' && block.isRedacted)).toEqual([
      false,
      true,
    ]);
  });
});

describe('calls', () => {
  it('interleaved calls are emitted one after the other', () => {
    const events = run([
      call(0, 'a', 'one'),
      input(0, '{"x":'),
      call(1, 'b', 'two'),
      input(1, '{"y":'),
      input(0, '1}'),
      input(1, '2}'),
      finish,
      end,
    ]);
    expect(shortly(events)).toEqual([
      'start',
      '+0 tool_call',
      '0 {"x":',
      '0 1}',
      '-0',
      '+1 tool_call',
      '1 {"y":2}',
      '-1',
      'finish tool_calls',
    ]);
  });

  it('a call with complete input is followed by the next at once', () => {
    const guard = guardOf();
    guard.push([call(0, 'a', 'one'), input(0, '{"x":1}')]);
    expect(shortly(guard.push([call(1, 'b', 'two'), input(1, '{')]))).toEqual(['-0', '+1 tool_call', '1 {']);
  });

  it.each([
    ['function', '{}'],
    ['freeform', ''],
  ] as const)('of a %s with nothing but a space for input have the same in deltas and as a whole', (form, added) => {
    const fragments: Fragment[] = [{ type: 'call', key: 0, id: 'a', name: 'one', form }, input(0, ' '), finish, end];
    const deltas = run(fragments).flatMap((event) => (event.type === 'block_delta' ? [event.text] : []));
    expect(deltas.join('')).toBe(` ${added}`);
    expect(replyTo(fragments).blocks[0]).toMatchObject({ input: ` ${added}` });
  });

  it('a call without input gets an empty object', () => {
    const events = run([call(0, 'a', 'one'), finish, end]);
    expect(shortly(events)).toEqual(['start', '+0 tool_call', '0 {}', '-0', 'finish tool_calls']);
    expect(replyTo([call(0, 'a', 'one'), end]).blocks[0]).toMatchObject({ input: '{}' });
  });

  it('a call opens once its name is known, with the input that arrived before the name', () => {
    const events = run([call(0, 'a'), input(0, '{'), call(0, undefined, 'one'), input(0, '}'), finish, end]);
    expect(shortly(events)).toEqual(['start', '+0 tool_call', '0 {', '0 }', '-0', 'finish tool_calls']);
  });

  it('a call without an id gets one', () => {
    expect(replyTo([call(0, undefined, 'one'), input(0, '{}'), end]).blocks[0]).toMatchObject({ id: 'call_abc_0' });
  });

  it('input that arrived before the name of its call counts once', () => {
    const early = JSON.stringify({ value: 'x'.repeat(0.6 * bounds.translatedReply) });
    const held = early.length + charactersPerBlock;
    for (const name of [call(0, 'id_1', 'f'), call(0, undefined, 'f')]) {
      const guard = guardOf();
      const fragments: Fragment[] = [call(0), input(0, early), name];
      guard.push(fragments);
      guard.push([finish, end]);
      expect({ failure: guard.failure, held: guard.heldCharacters, finish: guard.reply?.finish }).toEqual({
        failure: undefined,
        held,
        finish: 'tool_calls',
      });
    }
  });

  it('the same key with another id is another call', () => {
    const { blocks } = replyTo([call(0, 'a', 'one'), input(0, '{}'), call(0, 'b', 'one'), input(0, '{}'), end]);
    expect(blocks.map((block) => block.type === 'tool_call' && block.id)).toEqual(['a', 'b']);
  });

  it('a call whose id and name are repeated stays one call', () => {
    const { blocks } = replyTo([call(0, 'a', 'one'), input(0, '{'), call(0, 'a', 'one'), input(0, '}'), end]);
    expect(blocks).toMatchObject([{ name: 'one', input: '{}' }]);
  });

  it('the end of a call adds the input that its deltas left out', () => {
    const fragments: Fragment[] = [
      call(0, 'a', 'one'),
      input(0, '{"x"'),
      { type: 'call_end', key: 0, input: '{"x":1}' },
      end,
    ];
    expect(replyTo(fragments).blocks).toMatchObject([{ input: '{"x":1}' }]);
  });

  it('a freeform tool that was sent as a function is unwrapped, with its name and group', () => {
    const fragments = [
      call(0, 'a', 'files__apply_patch'),
      input(0, '{"input":"*** Be'),
      input(0, 'gin"}'),
      finish,
      end,
    ];
    expect(replyTo(fragments).blocks).toEqual([{ type: 'tool_call', id: 'a', ...patch, input: '*** Begin' }]);
    expect(shortly(run(fragments))).toContain('0 *** Begin');
  });

  it('a reply with calls finishes with tool_calls, whatever the upstream reports', () => {
    expect(replyTo([call(0, 'a', 'one'), { type: 'finish', reason: 'stop' }, end]).finish).toBe('tool_calls');
  });

  it('a reply without calls does not finish with tool_calls, even if the upstream reports it', () => {
    expect(replyTo([text('a'), { type: 'finish', reason: 'tool_calls' }, end]).finish).toBe('stop');
  });

  it('a call truncated by the length limit stays as it is', () => {
    const reply = replyTo([call(0, 'a', 'one'), input(0, '{"x'), { type: 'finish', reason: 'length' }, end]);
    expect([reply.finish, reply.blocks]).toMatchObject(['length', [{ input: '{"x' }]]);
  });
});

describe('the end', () => {
  it('the end is emitted once', () => {
    const guard = guardOf();
    guard.push([text('a'), finish, end]);
    expect(guard.push([text('b'), finish, end])).toEqual([]);
  });

  it('an upstream that closes after its finish reason gets the missing end', () => {
    const guard = guardOf();
    guard.push([text('a'), finish]);
    expect(shortly(guard.close())).toEqual(['-0', 'finish stop']);
  });

  it('an upstream that closes without a finish reason gets no end', () => {
    const guard = guardOf();
    guard.push([text('a')]);
    expect([guard.close(), guard.isOver]).toEqual([[], false]);
  });

  it('an end without any content is a failure', () => {
    const guard = guardOf();
    guard.push([end]);
    expect(guard.failure).toMatchObject({ code: 'upstream_failed' });
  });

  it('an end without text and without a token count is a failure', () => {
    const guard = guardOf();
    guard.push([text(''), finish, end]);
    expect(guard.failure).toMatchObject({ code: 'upstream_failed' });
  });

  it('an error fails the reply, and nothing follows it', () => {
    const guard = guardOf();
    const error = new GatewayError('upstream_failed', 'boom');
    expect(shortly(guard.push([text('a'), { type: 'error', error }, text('b')]))).toEqual(['start', '+0 text', '0 a']);
    expect(guard.failure).toBe(error);
  });
});

describe('usage', () => {
  it('usage is what the upstream counted, and later counts replace earlier ones', () => {
    const guard = guardOf();
    guard.push([
      { type: 'usage', usage: { input: 7, cacheRead: 2, output: 1 } },
      text('a'),
      { type: 'usage', usage: { output: 5 } },
      finish,
      end,
    ]);
    expect(guard.usage).toEqual({ input: 7, output: 5, cacheRead: 2, cacheWrite: 0, reasoning: 0, isEstimated: false });
  });

  it('usage of a broken reply is at least what has arrived, and marked as estimated', () => {
    const guard = guardOf();
    guard.push([{ type: 'usage', usage: { input: 7, output: 1 } }]);
    expect(guard.usage).toEqual({ input: 7, output: 1 });
    guard.push([text('x'.repeat(40))]);
    expect(guard.usage).toMatchObject({ input: 7, output: 10, isEstimated: true });
  });

  it('usage of nothing but a call without arguments is estimated if the upstream counts zero', () => {
    const guard = guardOf();
    guard.push([
      call(0, 'a', 'look_around'),
      { type: 'call_end', key: 0 },
      { type: 'usage', usage: { input: 0, output: 0 } },
      finish,
      end,
    ]);
    expect(guard.usage).toMatchObject({ input: 100, output: 3, isEstimated: true });
  });

  it('usage that the upstream did not count is estimated and marked as such', () => {
    const guard = guardOf();
    guard.push([text('x'.repeat(40)), finish, end]);
    expect(guard.usage).toMatchObject({ input: 100, output: 10, isEstimated: true });
  });
});

const key = fc.integer({ min: 0, max: 2 });
const anyFragment: fc.Arbitrary<Fragment> = fc.oneof(
  fc.string({ maxLength: 4 }).map(text),
  fc.string({ maxLength: 4 }).map((value): Fragment => ({ type: 'reasoning', text: value })),
  fc.string({ maxLength: 4 }).map((value): Fragment => ({ type: 'refusal', text: value })),
  fc
    .constantFrom('signature', 'redacted', 'encrypted', 'thought')
    .map((kind): Fragment => ({ type: 'reasoning_state', kind: kind as 'signature', data: 'd' })),
  fc.constant<Fragment>({ type: 'break' }),
  fc
    .record({ key, id: fc.constantFrom(undefined, '', 'a', 'b'), name: fc.constantFrom(undefined, '', 'one', 'two') })
    .map((parts): Fragment => ({ type: 'call', ...parts })),
  fc.tuple(key, fc.constantFrom('{', '}', '{}', '"x":1', '', ' ')).map(([k, value]) => input(k, value)),
  key.map((k): Fragment => ({ type: 'call_end', key: k })),
  fc.constantFrom('https://a.example', 'https://b.example').map((url): Fragment => ({
    type: 'citation',
    citation: { url, title: undefined, quote: undefined, start: undefined, end: undefined },
  })),
  fc.constant<Fragment>({ type: 'usage', usage: { output: 3 } }),
);

/** Breaks the rules of `ReplyEvent` by throwing; returns the blocks that the deltas add up to. */
function checkGrammar(events: readonly ReplyEvent[]): void {
  let open: { index: number; text: string; citations: Citation[] } | undefined;
  let next = 0;
  let isFinished = false;
  for (const [position, event] of events.entries()) {
    expect(event.type === 'start').toBe(position === 0);
    expect(isFinished).toBe(false);
    if (event.type === 'block_start') {
      expect(open).toBeUndefined();
      expect(event.index).toBe(next);
      open = { index: next++, text: '', citations: [] };
    } else if (event.type === 'block_delta') {
      expect([event.index, event.text === '']).toEqual([open?.index, false]);
      if (open !== undefined) open.text += event.text;
    } else if (event.type === 'citation') {
      expect(event.index).toBe(open?.index);
      open?.citations.push(event.citation);
    } else if (event.type === 'block_stop') {
      expect(event.index).toBe(open?.index);
      expect(open?.citations).toEqual(event.block.type === 'text' ? event.block.citations : []);
      expect(open?.text).toBe(contentOf(event.block));
      open = undefined;
    } else if (event.type === 'finish') {
      expect(open).toBeUndefined();
      expect(event.reply.blocks).toHaveLength(next);
      isFinished = true;
    }
  }
  expect(isFinished).toBe(true);
}

it('any sequence of fragments yields a well-formed reply, however its text is split', () => {
  fc.assert(
    fc.property(fc.array(anyFragment, { maxLength: 30 }), fc.nat(), (fragments, cut) => {
      const all: Fragment[] = [{ type: 'usage', usage: { output: 1 } }, ...fragments, finish, end];
      const guard = guardOf();
      const at = cut % all.length;
      const events = [...guard.push(all.slice(0, at)), ...guard.push(all.slice(at))];
      checkGrammar(events);
      expect(events).toEqual(run(all));
    }),
    runs(400),
  );
});

const plainTextOf = (...fragments: Fragment[]) => {
  const guard = guardOf();
  guard.push(fragments);
  return guard.plainText;
};
const counts = (prompt: number, output: number): Fragment => ({ type: 'usage', usage: { input: prompt, output } });

describe('text that another route can continue', () => {
  const thought: Fragment = { type: 'reasoning', text: 'hm' };

  it.each([
    ['all that was sent', [text('Hel'), text('lo')], 'Hello'],
    ['that of several blocks', [text('Hel'), { type: 'break' }, text('lo')], 'Hello'],
    ['that behind a thought', [thought, text('Hello')], 'Hello'],
    ['nothing before the answer began', [], ''],
    ['none within a thought', [text('Hello'), thought], undefined],
    ['none within a call', [text('Hello'), call(0, 'a', 'f')], undefined],
    ['none while a call is about to begin', [text('Hello'), call(0, 'a')], undefined],
    ['none with a call that is over', [call(0, 'a', 'f'), { type: 'call_end', key: 0 }, text('Hello')], undefined],
    ['none with a refusal', [{ type: 'refusal', text: 'No.' }, text('Hello')], undefined],
    ['none at the end', [text('Hello'), finish], undefined],
  ] as [string, Fragment[], string | undefined][])('is %s', (_name, fragments, expected) => {
    expect(plainTextOf(...fragments)).toBe(expected);
  });

  const route = { toolNames: names, tagState: () => 'tagged' };

  it('another route continues in the open block', () => {
    const guard = guardOf();
    const failure: Fragment = { type: 'error', error: new GatewayError('upstream_failed', 'broken') };
    const before = guard.push([text('Hel'), failure]);
    guard.resume(route);
    const after = guard.push([text('lo'), finish, end]);
    expect(shortly([...before, ...after])).toEqual(['start', '+0 text', '0 Hel', '0 lo', '-0', 'finish stop']);
    expect(guard.reply?.blocks).toMatchObject([{ text: 'Hello' }]);
  });

  it('a continued reply counts the prompt once for the client and all tokens for the record', () => {
    const guard = guardOf();
    guard.push([counts(10, 1), text('x'.repeat(40))]);
    guard.resume(route);
    guard.push([counts(25, 7), text('lo'), finish, end]);
    expect(guard.reply?.usage).toMatchObject({ input: 10, output: 10 + 7 });
    expect(guard.usage).toMatchObject({ input: 10 + 25, output: 10 + 7, isEstimated: true });
  });

  it('a route that sent nothing counts no tokens', () => {
    const guard = guardOf();
    guard.push([counts(10, 1), text('x'.repeat(40))]);
    guard.resume(route);
    guard.resume(route);
    expect(guard.push([counts(25, 7), finish, end])).not.toEqual([]);
    expect(guard.usage).toMatchObject({ input: 35, output: 17 });
  });
});
