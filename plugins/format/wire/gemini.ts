import type * as genai from '@google/genai';
import type { Loose } from './loose.ts';

/** Members that Google's SDK does not declare, and where they occur. */
interface UndeclaredMembers {
  request:
    | 'generationConfig' // the API itself; the SDK has its members in `config`
    | 'generateContentRequest' // requests to count tokens
    | 'system_instruction' // protobuf names in snake case
    | 'generation_config';
  generation: '_responseJsonSchema'; // SDKs for Python
  reply:
    | 'response' // relays that wrap the reply
    | 'error'; // instead of an answer
  citations: 'citationSources'; // the API itself; the SDK uses `citations`
  /** Keywords of JSON Schema, some of which the API accepts. */
  schema:
    | '$ref'
    | 'additionalProperties'
    | 'allOf'
    | 'const'
    | 'exclusiveMaximum'
    | 'exclusiveMinimum'
    | 'oneOf'
    | 'prefixItems';
}

export type GeminiRequest = Loose<
  genai.GenerateContentParameters | genai.GenerateContentConfig,
  UndeclaredMembers['request']
>;
export type GeminiGenerationConfig = Loose<genai.GenerationConfig, UndeclaredMembers['generation']>;
export type GeminiThinkingConfig = Loose<genai.ThinkingConfig>;
export type GeminiTool = Loose<genai.Tool>;
export type GeminiFunctionDeclaration = Loose<genai.FunctionDeclaration>;
export type GeminiToolConfig = Loose<genai.ToolConfig>;
export type GeminiFunctionCallingConfig = Loose<genai.FunctionCallingConfig>;
export type GeminiSchema = Loose<genai.Schema, UndeclaredMembers['schema']>;

export type GeminiContent = Loose<genai.Content>;
export type GeminiPart = Loose<genai.Part>;
export type GeminiBlob = Loose<genai.Blob>;
export type GeminiFile = Loose<genai.FileData>;
export type GeminiFunctionCall = Loose<genai.FunctionCall>;
export type GeminiPartialArg = Loose<genai.PartialArg>;
export type GeminiFunctionResponse = Loose<genai.FunctionResponse>;

/** A non-streaming reply, a chunk, or a token count. */
export type GeminiReply = Loose<
  | Pick<
      genai.GenerateContentResponse,
      'candidates' | 'modelVersion' | 'promptFeedback' | 'responseId' | 'usageMetadata'
    >
  | Pick<genai.CountTokensResponse, 'totalTokens'>,
  UndeclaredMembers['reply']
>;
export type GeminiCandidate = Loose<genai.Candidate>;
export type GeminiFeedback = Loose<genai.GenerateContentResponsePromptFeedback>;
export type GeminiUsage = Loose<genai.GenerateContentResponseUsageMetadata>;
export type GeminiGrounding = Loose<genai.GroundingMetadata>;
export type GeminiGroundingChunk = Loose<genai.GroundingChunk>;
export type GeminiGroundingSource = Loose<genai.GroundingChunkWeb | genai.GroundingChunkImage>;
export type GeminiGroundingSupport = Loose<genai.GroundingSupport>;
export type GeminiSegment = Loose<genai.Segment>;
export type GeminiCitations = Loose<genai.CitationMetadata, UndeclaredMembers['citations']>;
export type GeminiCitation = Loose<genai.Citation>;
