import type { JsonObject } from '#core/platform/json.ts';
import { objectOf, objectsOf, textOf } from '../conversation.ts';
import { checkAnswered } from '../upstreams/upstream-format.ts';
import type { Rule } from './vendor.ts';

/*
 * What Chat endpoints refuse. Each rule is one sentence of a vendor's API reference, or of a report about its endpoint.
 */

const messagesOf = (body: JsonObject): JsonObject[] => objectsOf(body['messages']);
const isInstruction = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer';

/** The first complaint about a message. */
function aboutMessages(complain: (message: JsonObject, index: number, all: JsonObject[]) => string | undefined): Rule {
  return ({ body }) => {
    const all = messagesOf(body);
    for (const [index, message] of all.entries()) {
      const complaint = complain(message, index, all);
      if (complaint !== undefined) return `messages[${index}]: ${complaint}`;
    }
    return undefined;
  };
}

/** Roles are known, content is not empty, and each call is followed by its result. */
export const wellFormed: Rule = ({ body }) => {
  const messages = messagesOf(body);
  if (messages.length === 0) return 'messages is empty';
  const foreign = messages.find(
    ({ role }) => !['system', 'developer', 'user', 'assistant', 'tool'].includes(textOf(role)),
  );
  if (foreign !== undefined) return `unknown role ${String(foreign['role'])}`;
  const empty = messages.findIndex(({ role, content }) => role === 'user' && (content === '' || content === null));
  if (empty !== -1) return `messages[${empty}]: content is empty`;
  return badOrder(messages);
};

function badOrder(messages: readonly JsonObject[]): string | undefined {
  for (let index = 0; index < messages.length; index++) {
    const calls = objectsOf(messages[index]?.['tool_calls']).map(({ id }) => textOf(id));
    const results: string[] = [];
    while (messages[index + 1]?.['role'] === 'tool') results.push(textOf(messages[++index]?.['tool_call_id']));
    try {
      checkAnswered(calls, results, `messages[${index}]`);
    } catch (error) {
      return (error as Error).message;
    }
  }
  return undefined;
}

/** Unknown members are an error. */
export function knows(...names: readonly string[]): Rule {
  const known = new Set([...common, ...names]);
  return ({ body }) => {
    const foreign = Object.keys(body).find((name) => !known.has(name));
    return foreign === undefined ? undefined : `extra inputs are not permitted: ${foreign}`;
  };
}

const common = [
  'model',
  'messages',
  'stream',
  'temperature',
  'top_p',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
];

/** Unknown members of messages are an error. */
export function knowsInMessages(...names: readonly string[]): Rule {
  const known = new Set(['role', 'content', 'tool_calls', 'tool_call_id', ...names]);
  return aboutMessages((message) => {
    const foreign = Object.keys(message).find((name) => !known.has(name));
    return foreign === undefined ? undefined : `extra inputs are not permitted: ${foreign}`;
  });
}

export function refuses(...names: readonly string[]): Rule {
  return ({ body }) => {
    const found = names.find((name) => (body[name] ?? undefined) !== undefined);
    return found === undefined ? undefined : `${found} is not supported`;
  };
}

export function refusesInMessages(...names: readonly string[]): Rule {
  return aboutMessages((message) => {
    const found = names.find((name) => name in message);
    return found === undefined ? undefined : `property '${found}' is unsupported`;
  });
}

export const noDeveloper: Rule = aboutMessages(({ role }) =>
  role === 'developer' ? 'unknown variant developer' : undefined,
);

export const systemFirst: Rule = aboutMessages((message, index, all) =>
  isInstruction(message) && !all.slice(0, index).every(isInstruction)
    ? 'system message must be at the beginning'
    : undefined,
);

export const oneSystem: Rule = ({ body }) =>
  messagesOf(body).filter(isInstruction).length > 1 ? 'invalid chat setting: several system messages' : undefined;

export const needsUser: Rule = ({ body }) =>
  messagesOf(body).some(({ role }) => role === 'user') ? undefined : 'messages has no user';

export const endsWithUserOrTool: Rule = ({ body }) => {
  const { role, prefix } = messagesOf(body).at(-1) ?? {};
  return role === 'user' || role === 'tool' || prefix === true ? undefined : `the last role is ${String(role)}`;
};

export const nineCharacterIds: Rule = aboutMessages((message) => {
  const ids = [...objectsOf(message['tool_calls']).map(({ id }) => id), message['tool_call_id'] ?? 'abcdefghi'];
  const bad = ids.find((id) => !/^[A-Za-z0-9]{9}$/.test(textOf(id)));
  return bad === undefined ? undefined : `tool call id ${String(bad)} has to be [A-Za-z0-9]{9}`;
});

/** Assistant turns come with the reasoning that led to them, the empty one included. */
export const wantsReasoning: Rule = aboutMessages((message) =>
  message['role'] === 'assistant' && typeof message['reasoning_content'] !== 'string'
    ? 'the reasoning_content in the thinking mode must be passed back'
    : undefined,
);

export const wantsReasoningWithCalls: Rule = aboutMessages((message) =>
  Array.isArray(message['tool_calls']) && typeof message['reasoning_content'] !== 'string'
    ? 'thinking is enabled but reasoning_content is missing in assistant tool call message'
    : undefined,
);

/** Roles whose content is text, not parts. */
export function textOnly(...roles: readonly string[]): Rule {
  return aboutMessages(({ role, content }) =>
    roles.includes(textOf(role)) && Array.isArray(content) ? 'content must be a string' : undefined,
  );
}

export const noImages: Rule = aboutMessages(({ content }) =>
  objectsOf(content).some(({ type }) => type !== 'text') ? 'unknown variant image_url, expected text' : undefined,
);

export function mostStops(most: number): Rule {
  return ({ body: { stop } }) => {
    const count = Array.isArray(stop) ? stop.length : Number(typeof stop === 'string');
    return count > most ? `stop has more than ${most} sequences` : undefined;
  };
}

export function choices(...allowed: readonly string[]): Rule {
  return ({ body: { tool_choice } }) =>
    tool_choice === undefined || tool_choice === null || allowed.includes(textOf(tool_choice))
      ? undefined
      : `tool_choice ${JSON.stringify(tool_choice)} is not supported`;
}

export const noStrict: Rule = ({ body }) =>
  objectsOf(body['tools']).some((tool) => 'strict' in objectOf(tool['function']))
    ? 'strict is not supported'
    : undefined;

export const functionsOnly: Rule = ({ body }) => {
  const foreign = objectsOf(body['tools']).find(({ type }) => type !== 'function');
  return foreign === undefined ? undefined : `tools: unknown type ${String(foreign['type'])}`;
};

/** Kinds of `response_format` beside `text`. */
export function outputs(...kinds: readonly string[]): Rule {
  return ({ body }) => {
    const type = textOf(objectOf(body['response_format'])['type']);
    return type === '' || type === 'text' || kinds.includes(type)
      ? undefined
      : `response_format ${type} is unavailable`;
  };
}

/** `json_object` is refused when no message contains the word JSON. */
export const saysJson: Rule = ({ body }) => {
  const isJson = objectOf(body['response_format'])['type'] === 'json_object';
  return isJson && !/json/i.test(JSON.stringify(body['messages']))
    ? "messages must contain the word 'json'"
    : undefined;
};

/** Values of `thinking.type`. */
export function thinkingTypes(...types: readonly string[]): Rule {
  return ({ body: { thinking } }) => {
    if (thinking === undefined) return undefined;
    const type = textOf(objectOf(thinking)['type']);
    return types.includes(type) ? undefined : `thinking.type: unknown variant ${type}`;
  };
}

export function efforts(...known: readonly string[]): Rule {
  return ({ body: { reasoning_effort: effort } }) =>
    effort === undefined || known.includes(textOf(effort))
      ? undefined
      : `reasoning_effort ${String(effort)} is unknown`;
}

/** Schemas of tools are objects at their root. */
export const objectSchemas: Rule = ({ body }) => {
  const parameters = objectsOf(body['tools']).map((tool) => objectOf(objectOf(tool['function'])['parameters']));
  return parameters.some(({ type, ...rest }) => type !== 'object' && Object.keys(rest).length > 0)
    ? 'function parameters must be of type object'
    : undefined;
};

/** Headers that clients send to their own vendor. */
export const noForeignHeaders: Rule = ({ headers }) => {
  const found = Object.keys(headers).find((name) =>
    /^(anthropic-(?!version$)|x-stainless-|x-app$|x-claude-|openai-|originator$|x-codex)/.test(name),
  );
  return found === undefined ? undefined : `header ${found} belongs to another vendor`;
};
