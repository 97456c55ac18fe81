import type { JsonObject } from '#core/platform/json.ts';
import { objectOf, textOf } from '../conversation.ts';
import * as chat from './chat-rules.ts';
import * as oddEvents from './event-oddities.ts';
import * as messages from './messages-rules.ts';
import * as odd from './oddities.ts';
import * as responses from './responses-rules.ts';
import { signature } from './scenarios.ts';
import type { Endpoint, Oddity, Rule, VendorDescription } from './vendor.ts';

const openaiError = (complaint: string) => ({
  status: 400,
  body: { error: { message: complaint, type: 'invalid_request_error', param: null, code: null } },
});
const anthropicError = (complaint: string) => ({
  status: 400,
  body: { type: 'error', error: { type: 'invalid_request_error', message: complaint } },
});

const thinkingEnabled = (body: JsonObject): boolean => textOf(objectOf(body['thinking'])['type']) === 'enabled';
const thinkingSaid = (body: JsonObject): boolean =>
  'thinking' in body && objectOf(body['thinking'])['type'] !== 'disabled';
const effortSaid = (body: JsonObject): boolean => textOf(body['reasoning_effort']) === 'high';
const reasoningSaid = (body: JsonObject): boolean => textOf(objectOf(body['reasoning'])['effort']) === 'high';

const chatRules = [chat.wellFormed, chat.functionsOnly, chat.noForeignHeaders];
const effortOrThinking = (body: JsonObject): boolean => effortSaid(body) || thinkingEnabled(body);
const effortOrReasoning = (body: JsonObject): boolean => effortSaid(body) || reasoningSaid(body);
/** Endpoints for clients of Anthropic, as other vendors have them. */
function compatibleMessages(...oddities: Oddity[]): Endpoint {
  return {
    rules: [
      messages.wellFormed,
      messages.noSystemRole,
      messages.clientToolsOnly,
      messages.thinkingTypes('enabled', 'disabled'),
      chat.noForeignHeaders,
    ],
    oddities,
    isAskedToThink: thinkingEnabled,
  };
}

/** MiniMax takes thinking in either form. Source: MiniMax API docs, "Compatible Anthropic API". */
const adaptiveMessages: Endpoint = {
  rules: [messages.wellFormed, messages.noSystemRole, messages.clientToolsOnly, chat.noForeignHeaders],
  oddities: [oddEvents.emptySignature],
  isAskedToThink: thinkingSaid,
};
/** Servers that host any model take thinking as newer Claude models do; a budget needs a parser of reasoning. Seen: vLLM 0.32.0. */
function localMessages(rules: readonly Rule[], ...oddities: Oddity[]): Endpoint {
  return {
    rules: [
      messages.wellFormed,
      messages.clientToolsOnly,
      messages.thinkingTypes('adaptive', 'disabled'),
      chat.noForeignHeaders,
      ...rules,
    ],
    oddities,
    isAskedToThink: thinkingSaid,
  };
}

/** Servers that host any model with its own chat template. */
const localResponses: Endpoint = {
  rules: [responses.wellFormed, responses.functionsOnly, chat.noForeignHeaders],
  oddities: [oddEvents.fewMembers, oddEvents.reasoningContent],
  isAskedToThink: reasoningSaid,
};

/** Sources: each vendor's API reference; reports of users of other gateways about same-format routes. */
export const descriptions: readonly VendorDescription[] = [
  {
    name: 'mistral',
    model: 'magistral-medium-latest',
    endpoints: {
      chat: {
        rules: [
          ...chatRules,
          chat.noDeveloper,
          chat.knows(
            'max_tokens',
            'random_seed',
            'presence_penalty',
            'frequency_penalty',
            'n',
            'parallel_tool_calls',
            'prompt_mode',
            'reasoning_effort',
            'safe_prompt',
          ),
          chat.knowsInMessages('prefix'),
          chat.endsWithUserOrTool,
          chat.nineCharacterIds,
          chat.efforts('none', 'high'),
          chat.outputs('json_object', 'json_schema'),
        ],
        oddities: [
          odd.plain,
          odd.wholeCalls,
          odd.finishWithLastDelta,
          odd.noIndex,
          odd.noType,
          odd.thoughtParts,
          odd.usageWithFinish,
        ],
        isAskedToThink: effortSaid,
      },
    },
    refusal: (complaint) => ({
      status: 422,
      body: {
        object: 'error',
        message: { detail: [{ type: 'extra_forbidden', loc: ['body'], msg: complaint }] },
        type: 'invalid_request_error',
        code: '1500',
      },
    }),
  },
  {
    name: 'minimax',
    model: 'MiniMax-M2.5',
    endpoints: {
      chat: {
        rules: [
          ...chatRules,
          chat.noDeveloper,
          chat.oneSystem,
          chat.choices('auto', 'none'),
          chat.refuses('max_tokens', 'stop', 'response_format', 'reasoning_effort'),
          chat.noImages,
        ],
        oddities: [
          odd.plain,
          odd.inlineThinking,
          odd.wholeMessageAtTheEnd,
          odd.extra({ input_sensitive: false, output_sensitive: false, base_resp: { status_code: 0, status_msg: '' } }),
        ],
        extras: ['input_sensitive'],
        failure: { id: '', choices: null, base_resp: { status_code: 1013, status_msg: 'internal service error' } },
      },
    },
    lacks: ['image', 'image in a tool result'],
    // HTTP 200 and an error inside.
    refusal: (complaint) => ({
      status: 200,
      body: { id: '', choices: null, base_resp: { status_code: 2013, status_msg: `invalid params, ${complaint}` } },
    }),
  },
  {
    name: 'deepseek',
    model: 'deepseek-v4',
    endpoints: {
      chat: {
        rules: [
          ...chatRules,
          chat.noDeveloper,
          chat.wantsReasoning,
          chat.textOnly('tool', 'assistant', 'system'),
          chat.noImages,
          chat.noStrict,
          chat.outputs('json_object'),
          chat.saysJson,
          chat.thinkingTypes('enabled', 'disabled'),
          chat.efforts('low', 'high', 'max'),
          chat.mostStops(16),
        ],
        oddities: [
          odd.plain,
          odd.comments('keep-alive'),
          odd.usageWithFinish,
          odd.changedUsage((usage) => ({
            ...usage,
            prompt_cache_hit_tokens: objectOf(usage['prompt_tokens_details'])['cached_tokens'] ?? 0,
          })),
        ],
        isAskedToThink: effortOrThinking,
      },
    },
    lacks: ['image', 'image in a tool result'],
    refusal: openaiError,
  },
  {
    name: 'deepseek-anthropic',
    model: 'deepseek-v4',
    endpoints: {
      messages: {
        rules: [
          messages.wellFormed,
          messages.noSystemRole,
          messages.wantsThinking,
          messages.thinkingTypes('enabled', 'disabled'),
          messages.noImages,
          messages.clientToolsOnly,
          chat.noForeignHeaders,
        ],
        oddities: [oddEvents.unsigned],
        isAskedToThink: thinkingEnabled,
      },
    },
    lacks: ['image', 'image in a tool result'],
    refusal: anthropicError,
  },
  {
    name: 'zhipu',
    model: 'glm-5.3',
    endpoints: {
      chat: {
        rules: [
          ...chatRules,
          chat.noDeveloper,
          chat.needsUser,
          chat.refuses('max_completion_tokens', 'presence_penalty', 'frequency_penalty', 'reasoning_effort'),
          chat.refusesInMessages('name'),
          chat.choices('auto'),
          chat.noStrict,
          chat.mostStops(1),
          chat.outputs('json_object'),
          chat.thinkingTypes('enabled', 'disabled'),
        ],
        oddities: [odd.plain, odd.everyDeltaHasRole, odd.wholeCalls, odd.usageWithFinish],
        isAskedToThink: thinkingEnabled,
      },
    },
    lacks: [],
    refusal: (complaint) => ({ status: 400, body: { error: { code: '1214', message: complaint } } }),
  },
  {
    name: 'zhipu-anthropic',
    model: 'glm-5.3',
    endpoints: { messages: compatibleMessages(oddEvents.unsigned) },
    refusal: anthropicError,
  },
  {
    name: 'minimax-anthropic',
    model: 'MiniMax-M2.5',
    endpoints: { messages: adaptiveMessages },
    lacks: ['image', 'image in a tool result'],
    refusal: anthropicError,
  },
  {
    name: 'moonshot-anthropic',
    model: 'kimi-k2.6',
    endpoints: { messages: compatibleMessages(oddEvents.unsigned) },
    refusal: anthropicError,
  },
  {
    name: 'dashscope-anthropic',
    model: 'qwen3.5-plus',
    endpoints: { messages: compatibleMessages(oddEvents.emptySignature) },
    refusal: anthropicError,
  },
  {
    name: 'groq',
    model: 'openai/gpt-oss-120b',
    endpoints: {
      chat: {
        rules: [
          ...chatRules,
          chat.noDeveloper,
          chat.refusesInMessages('name', 'reasoning_content', 'reasoning_details', 'refusal'),
          chat.refuses('logprobs', 'logit_bias'),
        ],
        oddities: [
          odd.plain,
          odd.renamed('reasoning_content', 'reasoning'),
          odd.wholeCalls,
          odd.extra({ x_groq: { id: 'req_there' } }),
        ],
        isAskedToThink: effortSaid,
        extras: ['x_groq'],
      },
      responses: {
        rules: [responses.wellFormed, responses.functionsOnly, chat.noForeignHeaders],
        oddities: [oddEvents.fewMembers],
        isAskedToThink: reasoningSaid,
      },
    },
    lacks: ['image', 'image in a tool result'],
    refusal: openaiError,
  },
  {
    name: 'xai',
    model: 'grok-5',
    endpoints: {
      chat: {
        rules: [...chatRules, chat.refuses('stop', 'presence_penalty', 'frequency_penalty')],
        oddities: [
          odd.plain,
          odd.wholeCalls,
          odd.everyDeltaHasRole,
          odd.repeatedReasoning,
          odd.changedUsage(({ completion_tokens, ...usage }) => ({
            ...usage,
            completion_tokens:
              Number(completion_tokens) - Number(objectOf(usage['completion_tokens_details'])['reasoning_tokens'] ?? 0),
          })),
        ],
        isAskedToThink: effortSaid,
      },
      responses: {
        rules: [responses.wellFormed, chat.noForeignHeaders],
        oddities: [],
        isAskedToThink: reasoningSaid,
      },
      messages: compatibleMessages(oddEvents.emptySignature),
    },
    refusal: (complaint) => ({ status: 400, body: { code: 'Client specified an invalid argument', error: complaint } }),
  },
  {
    name: 'dashscope',
    model: 'qwen3.5-plus',
    endpoints: {
      chat: {
        rules: [
          ...chatRules,
          chat.noDeveloper,
          chat.refuses('frequency_penalty', 'reasoning_effort'),
          chat.choices('auto', 'none'),
          chat.outputs('json_object'),
          chat.saysJson,
        ],
        oddities: [odd.plain, odd.emptyArguments],
        isAskedToThink: ({ enable_thinking }) => enable_thinking === true,
      },
    },
    refusal: openaiError,
  },
  {
    name: 'moonshot',
    model: 'kimi-k2.6',
    endpoints: {
      chat: {
        rules: [
          ...chatRules,
          chat.noDeveloper,
          chat.wantsReasoningWithCalls,
          chat.choices('auto', 'none'),
          chat.objectSchemas,
          chat.thinkingTypes('enabled', 'disabled'),
          chat.refuses('reasoning_effort'),
          chat.mostStops(5),
        ],
        oddities: [odd.plain, odd.callByCall, odd.zeroIndex, odd.usageInChoice],
        isAskedToThink: thinkingEnabled,
      },
    },
    refusal: openaiError,
  },
  {
    name: 'ollama',
    model: 'qwen3:8b',
    endpoints: {
      chat: {
        rules: [...chatRules, chat.noDeveloper],
        oddities: [
          odd.plain,
          odd.renamed('reasoning_content', 'reasoning'),
          odd.wholeCalls,
          odd.noIds,
          odd.objectArguments,
          odd.stopsWithCalls,
          odd.noDone,
        ],
        isAskedToThink: effortSaid,
      },
      responses: localResponses,
      messages: localMessages([messages.noSystemRole], oddEvents.emptySignature, oddEvents.noFirstUsage),
    },
    refusal: openaiError,
    staysOpen: true,
  },
  {
    name: 'vllm',
    model: 'Qwen/Qwen3-32B',
    endpoints: {
      chat: {
        rules: [...chatRules, chat.noDeveloper, chat.systemFirst],
        oddities: [
          odd.plain,
          odd.renamed('reasoning_content', 'reasoning'),
          odd.callByCall,
          odd.zeroIndex,
          odd.missingArguments,
          odd.stopsWithCalls,
          odd.noUsage,
          odd.bareDone,
        ],
        isAskedToThink: effortSaid,
      },
      responses: {
        ...localResponses,
        oddities: [...localResponses.oddities, oddEvents.emptyOutput, oddEvents.noPlaces],
      },
      messages: localMessages([], oddEvents.emptySignature, oddEvents.noFirstUsage, oddEvents.noMessageStop),
    },
    refusal: (complaint) => ({
      status: 400,
      body: { object: 'error', message: complaint, type: 'BadRequestError', code: 400 },
    }),
  },
  {
    name: 'openrouter',
    model: 'moonshotai/kimi-k2.6',
    endpoints: {
      chat: {
        rules: chatRules,
        oddities: [
          odd.plain,
          odd.everyDeltaHasRole,
          odd.renamed('reasoning_content', 'reasoning'),
          odd.comments('OPENROUTER PROCESSING'),
          odd.extra({ provider: 'There' }),
          odd.changedUsage((usage) => ({ ...usage, cost: 0.001 })),
        ],
        isAskedToThink: effortOrReasoning,
        extras: ['provider', 'cost'],
        failure: {
          id: 'gen-there',
          object: 'chat.completion.chunk',
          created: 1_790_000_000,
          model: 'moonshotai/kimi-k2.6',
          error: { code: 'server_error', message: 'Provider disconnected' },
          choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
        },
      },
      responses: {
        rules: [responses.wellFormed, chat.noForeignHeaders],
        oddities: [oddEvents.fewMembers, oddEvents.noItemEvents],
        isAskedToThink: reasoningSaid,
      },
      messages: {
        ...compatibleMessages(oddEvents.unsigned),
        rules: [messages.wellFormed, messages.noSystemRole, chat.noForeignHeaders],
        isAskedToThink: thinkingSaid,
      },
    },
    refusal: (complaint) => ({ status: 400, body: { error: { message: complaint, code: 400 } } }),
  },
  {
    name: 'azure-openai',
    model: 'gpt-5-deployment',
    endpoints: {
      chat: {
        rules: [
          chat.wellFormed,
          chat.refuses('max_tokens', 'stop'),
          ({ headers }) => (headers['api-key'] === undefined ? 'Access denied due to missing api-key' : undefined),
        ],
        oddities: [odd.promptFilterFirst],
        isAskedToThink: effortSaid,
        extras: ['prompt_filter_results'],
      },
      responses: {
        rules: [
          responses.wellFormed,
          responses.ownState(signature),
          ({ headers }) => (headers['api-key'] === undefined ? 'Access denied due to missing api-key' : undefined),
        ],
        oddities: [],
        isAskedToThink: reasoningSaid,
      },
    },
    refusal: openaiError,
  },
  {
    name: 'anthropic',
    model: 'claude-opus-4-8',
    endpoints: {
      messages: {
        rules: [messages.wellFormed, messages.ownSignatures(signature), messages.thinkingTypes('adaptive', 'disabled')],
        oddities: [],
        isAskedToThink: ({ thinking }) => objectOf(thinking)['type'] === 'adaptive',
      },
    },
    refusal: anthropicError,
  },
  {
    name: 'gemini',
    model: 'gemini-3.5-flash',
    endpoints: {
      gemini: {
        rules: [chat.noForeignHeaders],
        oddities: [],
        isAskedToThink: (body) => JSON.stringify(body).includes('"thinkingLevel":"HIGH"'),
      },
    },
    refusal: (complaint) => ({
      status: 400,
      body: { error: { code: 400, message: complaint, status: 'INVALID_ARGUMENT' } },
    }),
    tooMany: {
      status: 429,
      body: { error: { code: 429, message: 'Resource has been exhausted', status: 'RESOURCE_EXHAUSTED' } },
    },
    staysOpen: true,
  },
];
