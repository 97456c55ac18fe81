import type { TextFormat } from '../../support/formats.ts';
import { descriptions } from './descriptions.ts';

/** What vendors cannot do, with the reason. */
export interface VendorLoss {
  readonly loss: string;
  readonly feature: string; // name of a scenario
  readonly vendors: readonly string[];
  /** Those that lose it where a vendor's endpoints differ; by default all that can express it. */
  readonly clients?: readonly TextFormat[];
  readonly reason: string;
}

/** The only accepted losses of vendors. Any other is a failure, and so is a listed one that does not happen. */
export const vendorLosses: readonly VendorLoss[] = [
  {
    loss: 'the grammar of freeform tools is described, not enforced',
    feature: 'freeform tool',
    vendors: descriptions.map(({ name }) => name).filter((name) => name !== 'azure-openai'),
    reason: 'only OpenAI has tools with a grammar',
  },
  {
    loss: 'parallel tool calls cannot be disabled',
    feature: 'one call at a time',
    vendors: ['deepseek', 'zhipu', 'gemini'],
    reason: 'their references have no switch for it',
  },
  {
    loss: 'images in tool results are sent in a user message',
    feature: 'image in a tool result',
    vendors: ['mistral', 'zhipu', 'dashscope', 'moonshot'],
    reason: 'results of tools are text in Chat Completions',
  },
  {
    loss: 'the stop sequence that was met is not reported',
    feature: 'stop sequence',
    clients: ['messages'],
    vendors: ['mistral', 'deepseek', 'zhipu', 'dashscope', 'moonshot', 'gemini'],
    reason: 'Chat Completions and Gemini have no member for it; where the gateway cuts the answer it is reported',
  },
  {
    loss: 'tool calls cannot be forced',
    feature: 'forced tool',
    vendors: ['minimax', 'zhipu', 'zhipu-anthropic', 'dashscope', 'moonshot'],
    reason: 'tool_choice must be auto or none: GLM and MiniMax have no other, Qwen and Kimi none while they reason',
  },
  {
    loss: 'tool calls cannot be forced',
    feature: 'forced tool',
    vendors: ['ollama'],
    reason: 'it reads no tool_choice, in any format',
  },
  {
    loss: 'the schema is in the prompt; only JSON is enforced',
    feature: 'structured output',
    vendors: ['deepseek', 'zhipu', 'dashscope'],
    reason: 'response_format is json_object or text',
  },
  {
    loss: 'the schema is in the prompt; nothing is enforced',
    feature: 'structured output',
    vendors: [
      'minimax',
      'deepseek-anthropic',
      'zhipu-anthropic',
      'minimax-anthropic',
      'moonshot-anthropic',
      'dashscope-anthropic',
    ],
    reason: 'their references have no output format',
  },
  ...['web search beside a tool', 'web search alone'].flatMap((feature) => [
    {
      loss: 'web search is not available',
      feature,
      vendors: [
        'mistral',
        'minimax',
        'deepseek',
        'deepseek-anthropic',
        'zhipu',
        'zhipu-anthropic',
        'minimax-anthropic',
        'moonshot-anthropic',
        'dashscope-anthropic',
        'groq',
        'dashscope',
        'moonshot',
        'ollama',
        'vllm',
      ],
      reason: 'none that requests of these formats can ask for; a request with nothing else is refused',
    },
    {
      loss: 'web search is not available',
      feature,
      clients: ['messages'] as const,
      vendors: ['xai'],
      reason: 'its Messages endpoint has none',
    },
  ]),
  {
    loss: 'web search is not available',
    feature: 'web search beside a tool',
    clients: ['responses', 'messages'],
    vendors: ['gemini'],
    reason: 'Gemini searches or calls functions, not both',
  },
  ...['reasoning', 'adaptive reasoning', 'history from elsewhere'].map((feature) => ({
    loss: 'reasoning effort cannot be set',
    feature,
    vendors: ['minimax'],
    reason: 'the models reason as much as they find right',
  })),
];

/** Names of the accepted losses of a cell. */
export function vendorLossesOf(vendor: string, client: TextFormat, feature: string): string[] {
  return vendorLosses
    .filter((entry) => entry.feature === feature && entry.vendors.includes(vendor))
    .filter(({ clients }) => clients?.includes(client) ?? true)
    .map(({ loss }) => loss);
}
