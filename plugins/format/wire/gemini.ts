import type {
  Blob,
  Candidate,
  Citation,
  Content,
  CountTokensResponse,
  FileData,
  FunctionCall,
  FunctionCallingConfig,
  FunctionDeclaration,
  FunctionResponse,
  GenerateContentConfig,
  GenerateContentParameters,
  GenerateContentResponse,
  GenerateContentResponsePromptFeedback,
  GenerateContentResponseUsageMetadata,
  GenerationConfig,
  GroundingChunk,
  GroundingChunkWeb,
  GroundingMetadata,
  GroundingSupport,
  Part,
  PartialArg,
  Schema,
  Segment,
  ThinkingConfig,
  Tool,
  ToolConfig,
} from '@google/genai';
import type { Loose } from './loose.ts';

/** Members of the format that Google's SDK does not declare, with those who send them. */
interface Undeclared {
  request:
    | 'generationConfig' // the API itself; the SDK has its members in `config`
    | 'generateContentRequest' // requests to count tokens
    | 'system_instruction' // protobuf's own names
    | 'generation_config';
  generation: '_responseJsonSchema'; // SDKs for Python
  reply: 'response'; // relays that wrap the reply
  citations: 'citationSources'; // the API itself; the SDK says `citations`
  /** JSON Schema, of which the API takes a subset. */
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

export type GeminiRequest = Loose<GenerateContentParameters | GenerateContentConfig, Undeclared['request']>;
export type GeminiGeneration = Loose<GenerationConfig, Undeclared['generation']>;
export type GeminiThinking = Loose<ThinkingConfig>;
export type GeminiTool = Loose<Tool>;
export type GeminiFunction = Loose<FunctionDeclaration>;
export type GeminiToolConfig = Loose<ToolConfig>;
export type GeminiCalling = Loose<FunctionCallingConfig>;
export type GeminiSchema = Loose<Schema, Undeclared['schema']>;

export type GeminiContent = Loose<Content>;
export type GeminiPart = Loose<Part>;
export type GeminiBlob = Loose<Blob>;
export type GeminiFile = Loose<FileData>;
export type GeminiCall = Loose<FunctionCall>;
export type GeminiPartialArg = Loose<PartialArg>;
export type GeminiResult = Loose<FunctionResponse>;

/** A whole reply or a chunk; a count of tokens is one, too. */
export type GeminiReply = Loose<
  | Pick<GenerateContentResponse, 'candidates' | 'modelVersion' | 'promptFeedback' | 'responseId' | 'usageMetadata'>
  | Pick<CountTokensResponse, 'totalTokens'>,
  Undeclared['reply']
>;
export type GeminiCandidate = Loose<Candidate>;
export type GeminiFeedback = Loose<GenerateContentResponsePromptFeedback>;
export type GeminiUsage = Loose<GenerateContentResponseUsageMetadata>;
export type GeminiGrounding = Loose<GroundingMetadata>;
export type GeminiGroundingChunk = Loose<GroundingChunk>;
export type GeminiGroundingSource = Loose<GroundingChunkWeb>;
export type GeminiGroundingSupport = Loose<GroundingSupport>;
export type GeminiSegment = Loose<Segment>;
export type GeminiCitations = Loose<never, Undeclared['citations']>;
export type GeminiCitation = Loose<Citation>;
