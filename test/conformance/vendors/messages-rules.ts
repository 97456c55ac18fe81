import type { JsonObject } from '#core/platform/json.ts';
import { objectOf, objectsOf, textOf } from '../conversation.ts';
import { checkAnswered } from '../upstreams/upstream-format.ts';
import type { Rule } from './vendor.ts';

/* What Messages endpoints refuse. */

const messagesOf = (body: JsonObject): JsonObject[] => objectsOf(body['messages']);
const blocksOf = (message: JsonObject | undefined): JsonObject[] => objectsOf(message?.['content']);

/** Results come first in the turn after their calls, and nothing is empty. */
export const wellFormed: Rule = ({ body }) => {
  const messages = messagesOf(body);
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required';
  for (const [index, message] of messages.entries()) {
    const { role, content } = message;
    if (!['user', 'assistant', 'system'].includes(textOf(role))) return `messages[${index}]: unknown role`;
    if (content === '') return `messages[${index}]: content is empty`;
    const empty = blocksOf(message).some(({ type, text }) => type === 'text' && textOf(text).trim() === '');
    if (empty) return `messages[${index}]: text content blocks must be non-empty`;
  }
  return badResults(messages.filter(({ role }) => role !== 'system'));
};

function badResults(messages: readonly JsonObject[]): string | undefined {
  for (const [index, message] of messages.entries()) {
    const calls = blocksOf(messages[index - 1]).filter(({ type }) => type === 'tool_use');
    const results = blocksOf(message).filter(({ type }) => type === 'tool_result');
    try {
      checkAnswered(
        calls.map(({ id }) => textOf(id)),
        results.map(({ tool_use_id }) => textOf(tool_use_id)),
        `messages[${index}]`,
      );
    } catch (error) {
      return (error as Error).message;
    }
  }
  return undefined;
}

export const noSystemRole: Rule = ({ body }) => {
  const index = messagesOf(body).findIndex(({ role }) => role === 'system');
  return index === -1 ? undefined : `messages[${index}].role: unknown variant system, expected user or assistant`;
};

export const alternates: Rule = ({ body }) => {
  const messages = messagesOf(body).filter(({ role }) => role !== 'system');
  const index = messages.findIndex(({ role }, at) => role !== (at % 2 === 0 ? 'user' : 'assistant'));
  return index === -1 ? undefined : `messages[${index}]: roles must alternate`;
};

/** With thinking on, an assistant turn with calls begins with its thinking. */
export const wantsThinking: Rule = ({ body }) => {
  const type = textOf(objectOf(body['thinking'])['type']);
  if (type !== 'enabled' && type !== 'adaptive') return undefined;
  const index = messagesOf(body).findIndex((message) => {
    const types = new Set(blocksOf(message).map((block) => block['type']));
    return types.has('tool_use') && !types.has('thinking') && !types.has('redacted_thinking');
  });
  return index === -1
    ? undefined
    : `messages[${index}]: the content[].thinking in the thinking mode must be passed back to the API`;
};

export function thinkingTypes(...types: readonly string[]): Rule {
  return ({ body: { thinking } }) => {
    if (thinking === undefined) return undefined;
    const type = textOf(objectOf(thinking)['type']);
    return types.includes(type) ? undefined : `thinking.type: unknown variant ${type}`;
  };
}

/** Only signatures that the vendor has made are accepted. */
export function ownSignatures(signature: string): Rule {
  return ({ body }) => {
    for (const [index, message] of messagesOf(body).entries()) {
      const foreign = blocksOf(message).find(
        (block) => block['type'] === 'thinking' && block['signature'] !== signature,
      );
      if (foreign !== undefined) return `messages[${index}]: Invalid \`signature\` in \`thinking\` block`;
    }
    return undefined;
  };
}

export const noImages: Rule = ({ body }) =>
  JSON.stringify(body['messages']).includes('"type":"image"') ? 'image is not supported' : undefined;

/** Typed tools run at the vendor, which has none. */
export const clientToolsOnly: Rule = ({ body }) => {
  const typed = objectsOf(body['tools']).find(({ type }) => type !== undefined && type !== 'custom');
  return typed === undefined ? undefined : `tools: unknown type ${String(typed['type'])}`;
};

export function refuses(...names: readonly string[]): Rule {
  return ({ body }) => {
    const found = names.find((name) => name in body);
    return found === undefined ? undefined : `${found}: Extra inputs are not permitted`;
  };
}
