import type { ChatRequest, ChatResponse, Message, Options, Tool, ToolCall } from 'ollama';
import type { Loose } from './loose.ts';

/** Members of the format that Ollama's SDK does not declare, and its API documents. */
interface Undeclared {
  message: 'tool_call_id';
  call: 'id';
}

export type OllamaRequest = Loose<ChatRequest>;
export type OllamaOptions = Loose<Options>;
export type OllamaTool = Loose<Tool>;
export type OllamaMessage = Loose<Message, Undeclared['message']>;
export type OllamaCall = Loose<ToolCall, Undeclared['call']>;
export type OllamaCallBody = Loose<ToolCall['function']>;
export type OllamaReply = Loose<ChatResponse>;
