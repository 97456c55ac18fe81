import type { Vendor, VendorModels } from '#core/config/catalog/catalog.ts';
import { claudeModels } from './origins.ts';

/**
 * Claude on clouds. They do not offer Anthropic's betas and hosted tools in the same way, so these are omitted. All three offer the review
 * of tool calls for Claude Code, and Claude Code 2.1.332 requests it from each (docs/clients.md).
 */
const cloudClaude = {
  formats: ['messages'],
  capabilities: { audio: false, video: false },
  quirks: {
    reasoning: 'budget',
    claude: true,
    late_system: true,
    strict_tools: true,
    tool_call_ids: 'unique',
    stop: 8_191,
    prefill: true,
    safeguards: true,
    max_output_tokens: 64_000,
  },
} as const satisfies Partial<Vendor>;

const prefixedClaudeModels: readonly VendorModels[] = claudeModels.map((model) => ({
  ...model,
  match: `*${model.match}`,
}));

/**
 * Clouds with Claude, Gemini and other models. Their URLs contain a region or a resource. All accept keys, or tokens from `credentials`.
 */
export const cloudVendors: readonly Vendor[] = [
  {
    // Source: AWS, "Amazon Bedrock: Generate responses using OpenAI APIs". Also available at bedrock-runtime.REGION.amazonaws.com.
    name: 'bedrock',
    title: 'Amazon Bedrock',
    formats: ['responses', 'chat'],
    baseUrlExample: 'https://bedrock-mantle.us-east-1.api.aws/openai/v1',
    auth: 'bearer',
    quirks: { late_system: true },
  },
  {
    // Source: AWS, "Inference using Anthropic Messages API".
    name: 'bedrock-anthropic',
    title: 'Amazon Bedrock, Claude',
    baseUrlExample: 'https://bedrock-runtime.us-east-1.amazonaws.com/anthropic/v1',
    auth: 'bearer',
    ...cloudClaude,
    models: prefixedClaudeModels,
  },
  {
    // Source: Google Cloud, "Vertex AI: generateContent".
    name: 'vertex',
    title: 'Google Vertex AI',
    formats: ['gemini'],
    baseUrlExample: 'https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/publishers/google',
    auth: 'bearer',
    quirks: { reasoning: 'level', hosted_search: true, count_tokens: true, stop: 5 },
    models: [{ match: 'gemini-2*', quirks: { reasoning: 'budget', tool_result_images: false } }],
  },
  {
    // Source: Anthropic docs, "Claude on Vertex AI".
    name: 'vertex-anthropic',
    title: 'Google Vertex AI, Claude',
    baseUrlExample: 'https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/publishers/anthropic',
    auth: 'bearer',
    ...cloudClaude,
    quirks: { ...cloudClaude.quirks, vertex: true },
    models: claudeModels,
  },
  {
    // Source: Anthropic docs, "Claude in Microsoft Foundry".
    name: 'azure-anthropic',
    title: 'Microsoft Foundry, Claude',
    baseUrlExample: 'https://NAME.services.ai.azure.com/anthropic/v1',
    auth: 'x-api-key',
    ...cloudClaude,
    quirks: { ...cloudClaude.quirks, count_tokens: true },
    models: claudeModels,
  },
];
