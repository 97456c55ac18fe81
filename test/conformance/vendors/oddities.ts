import type { JsonObject } from '#core/platform/json.ts';
import { type Answer, compact, isObject, objectOf, objectsOf, omit, textOf } from '../conversation.ts';
import type { Oddity } from './vendor.ts';

/*
 * How answers of Chat endpoints deviate. A vendor combines some of them; each applies to the streamed and the whole form,
 * where it exists in both.
 */

const choiceOf = (chunk: JsonObject): JsonObject => objectsOf(chunk['choices'])[0] ?? {};

/** Changes the message or delta of each choice. */
function inEach(change: (delta: JsonObject) => JsonObject): Oddity {
  const inChoices = (reply: JsonObject): JsonObject => ({
    ...reply,
    choices: objectsOf(reply['choices']).map((choice) => {
      const member = isObject(choice['message']) ? 'message' : 'delta';
      return isObject(choice[member]) ? { ...choice, [member]: compact(change(choice[member])) } : choice;
    }),
  });
  return { whole: inChoices, events: (events) => events.map(inChoices) };
}

/** Changes the first choice of a whole answer and each chunk. */
function inEachChoice(change: (choice: JsonObject) => JsonObject): Oddity {
  const inChoices = (reply: JsonObject): JsonObject => ({
    ...reply,
    choices: objectsOf(reply['choices']).map((choice) => compact(change(choice))),
  });
  return { whole: inChoices, events: (events) => events.map(inChoices) };
}

/** Changes calls: of messages, and each piece of them in deltas. */
function inCalls(change: (call: JsonObject, index: number) => JsonObject): Oddity {
  return inEach(({ tool_calls: calls, ...delta }) => ({
    ...delta,
    ...(calls !== undefined && { tool_calls: objectsOf(calls).map(change) }),
  }));
}

/** Calls come whole, in one chunk for all of them. */
export const wholeCalls: Oddity = {
  events(events) {
    const calls: JsonObject[] = [];
    const others = events.filter((event) => {
      const pieces = objectsOf(objectOf(choiceOf(event)['delta'])['tool_calls']);
      for (const piece of pieces) addPiece(calls, piece);
      return pieces.length === 0;
    });
    if (calls.length === 0) return others;
    const finish = others.findIndex((event) => typeof choiceOf(event)['finish_reason'] === 'string');
    const [like = {}] = others;
    const chunk = {
      ...like,
      choices: [{ index: 0, delta: { role: 'assistant', content: '', tool_calls: calls }, finish_reason: null }],
    };
    return [...others.slice(0, finish), chunk, ...others.slice(finish)];
  },
};

function addPiece(calls: JsonObject[], piece: JsonObject): void {
  const call = calls[Number(piece['index'])];
  if (call === undefined) {
    calls.push(structuredClone(piece));
    return;
  }
  const called = objectOf(call['function']);
  called['arguments'] = textOf(called['arguments']) + textOf(objectOf(piece['function'])['arguments']);
}

/** Each call comes in one piece, in a separate chunk. */
export const callByCall: Oddity = {
  events(events) {
    return (wholeCalls.events?.(events) ?? []).flatMap((event) => {
      const choice = choiceOf(event);
      const calls = objectsOf(objectOf(choice['delta'])['tool_calls']);
      if (calls.length === 0) return [event];
      return calls.map((call) => ({ ...event, choices: [{ ...choice, delta: { tool_calls: [call] } }] }));
    });
  },
};

/** With the finish in the chunk of the last call or text. */
export const finishWithLastDelta: Oddity = {
  events(events) {
    const at = events.findIndex((event) => typeof choiceOf(event)['finish_reason'] === 'string');
    const last = events[at - 1];
    if (last === undefined) return [...events];
    const { finish_reason } = choiceOf(events[at] as JsonObject);
    const merged = { ...last, choices: [{ ...choiceOf(last), finish_reason }] };
    return [...events.slice(0, at - 1), merged, ...events.slice(at + 1)];
  },
};

export const noIndex = inCalls((call) => omit(call, 'index'));
export const zeroIndex = inCalls((call) => ('index' in call ? { ...call, index: 0 } : call));
export const noType = inCalls((call) => omit(call, 'type'));
export const noIds = inCalls((call) => omit(call, 'id'));

/** Arguments as an object. */
export const objectArguments = inArguments((text) => JSON.parse(text === '' ? '{}' : text) as JsonObject);
/** No arguments are an empty text. */
export const emptyArguments = inArguments((text) => (text === '{}' ? '' : text));
/** No arguments are left out. */
export const missingArguments = inArguments((text) => (text === '{}' ? undefined : text));

function inArguments(change: (text: string) => unknown): Oddity {
  return inCalls((call) => {
    const called = objectOf(call['function']);
    return 'arguments' in called
      ? { ...call, function: compact({ ...called, arguments: change(textOf(called['arguments'])) }) }
      : call;
  });
}

/** `stop`, whether there are calls or not. */
export const stopsWithCalls = inEachChoice((choice) =>
  choice['finish_reason'] === 'tool_calls' ? { ...choice, finish_reason: 'stop' } : choice,
);

/** A member under another name. */
export function renamed(from: string, to: string): Oddity {
  return inEach(({ [from]: value, ...delta }) => ({ ...delta, ...(value !== undefined && { [to]: value }) }));
}

/** Content is a list where there is reasoning beside it, a text otherwise. */
export const thoughtParts = inEach(({ content, reasoning_content: thought, ...delta }) => {
  if (textOf(thought) === '') return { ...delta, content };
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thought }] };
  return { ...delta, content: textOf(content) === '' ? [thinking] : [thinking, { type: 'text', text: content }] };
});

/** Reasoning is in the text, between tags. */
export const inlineThinking: Oddity = {
  answer: (answer) => {
    const thought = textsOf(answer, 'thought');
    if (thought === '') return answer;
    const rest = answer.blocks.filter(({ type }) => type !== 'thought' && type !== 'text');
    const text = `<think>\n${thought}\n</think>\n\n${textsOf(answer, 'text')}`;
    return { ...answer, blocks: [{ type: 'text', text }, ...rest] };
  },
};

function textsOf({ blocks }: Answer, type: 'thought' | 'text'): string {
  return blocks.map((block) => (block.type === type ? block.text : '')).join('');
}

/** The last chunk has the whole message in place of a delta. Source: MiniMax API reference. */
export const wholeMessageAtTheEnd: Oddity = {
  events(events) {
    const deltas = events.map((event) => objectOf(choiceOf(event)['delta']));
    const joined = (name: string): string => deltas.map((delta) => textOf(delta[name])).join('');
    const calls: JsonObject[] = [];
    for (const delta of deltas) for (const piece of objectsOf(delta['tool_calls'])) addPiece(calls, piece);
    const content = joined('content');
    const message = compact({
      role: 'assistant',
      content,
      ...(joined('reasoning_content') !== '' && { reasoning_content: joined('reasoning_content') }),
      ...(calls.length > 0 && { tool_calls: calls }),
    });
    const at = events.findIndex((event) => typeof choiceOf(event)['finish_reason'] === 'string');
    const { finish_reason } = choiceOf(events[at] ?? {});
    const usage = events.at(-1)?.['usage'];
    const last = { ...events[at], object: 'chat.completion', choices: [{ index: 0, finish_reason, message }], usage };
    return [...events.slice(0, at + 1), compact(last)];
  },
};

/** No chunk has the role `assistant`. */
export const everyDeltaHasRole = inEach((delta) => ({ role: 'assistant', ...delta }));

export const noUsage: Oddity = { answer: (answer) => ({ ...answer, usage: undefined }) };

export const noDone: Oddity = { frame: (stream) => stream.replace(/data: \[DONE\]\n\n$/, '') };

/** The end comes without its last line break. */
export const bareDone: Oddity = { frame: (stream) => stream.replace(/\n\n$/, '') };

/** Comments while the request waits. */
export function comments(text: string): Oddity {
  return { frame: (stream) => `: ${text}\n\n${stream.replace('\n\ndata: ', `\n\n: ${text}\n\ndata: `)}` };
}

/** A first chunk about the prompt, without choices. Source: Azure OpenAI reference, "Content filtering". */
export const promptFilterFirst: Oddity = {
  whole: (reply) => ({ ...reply, prompt_filter_results }),
  events: (events) => [{ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results }, ...events],
};

const prompt_filter_results = [
  { prompt_index: 0, content_filter_results: { hate: { filtered: false, severity: 'safe' } } },
];

/** Vendor-specific members, in every chunk and the whole answer. */
export function extra(members: JsonObject): Oddity {
  return {
    whole: (reply) => ({ ...reply, ...members }),
    events: (events) => events.map((event) => ({ ...event, ...members })),
  };
}

/** Vendor-specific members in the counts. */
export function changedUsage(change: (usage: JsonObject) => JsonObject): Oddity {
  const inReply = (reply: JsonObject): JsonObject =>
    isObject(reply['usage']) ? { ...reply, usage: compact(change(reply['usage'])) } : reply;
  return { whole: inReply, events: (events) => events.map(inReply) };
}

/** Counts come with the finish. */
export const usageWithFinish: Oddity = {
  events(events) {
    const { choices, usage } = events.at(-1) ?? {};
    if (objectsOf(choices).length > 0 || usage === undefined) return [...events];
    return events
      .slice(0, -1)
      .map((event) => (typeof choiceOf(event)['finish_reason'] === 'string' ? { ...event, usage } : event));
  },
};

/** Counts come in the choice of the finish. Source: Moonshot API reference. */
export const usageInChoice: Oddity = {
  events: (events) =>
    (usageWithFinish.events?.(events) ?? []).map((event) => {
      const { usage, ...chunk } = event;
      return isObject(usage) ? { ...chunk, choices: [{ ...choiceOf(event), usage }] } : event;
    }),
};

/** Reasoning comes in one piece, twice. */
export const repeatedReasoning: Oddity = {
  events: (events) => {
    const pieces = events.filter((event) => 'reasoning_content' in objectOf(choiceOf(event)['delta']));
    const [first] = pieces;
    if (first === undefined) return [...events];
    const reasoning_content = pieces
      .map((piece) => textOf(objectOf(choiceOf(piece)['delta'])['reasoning_content']))
      .join('');
    const whole = { ...first, choices: [{ ...choiceOf(first), delta: { reasoning_content } }] };
    return events.flatMap((event) => (event === first ? [whole, whole] : pieces.includes(event) ? [] : [event]));
  },
};

/** Members that this vendor does not send. */
export const plain = inEach((delta) => omit(delta, 'refusal'));
