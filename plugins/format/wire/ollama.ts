import type * as ollama from 'ollama';
import type { Loose } from './loose.ts';

/** Members that Ollama's API documents but its SDK does not declare. */
interface UndeclaredMembers {
  message: 'tool_call_id';
  call: 'id';
}

export type OllamaRequest = Loose<ollama.ChatRequest>;
export type OllamaOptions = Loose<ollama.Options>;
export type OllamaTool = Loose<ollama.Tool>;
export type OllamaMessage = Loose<ollama.Message, UndeclaredMembers['message']>;
export type OllamaCall = Loose<ollama.ToolCall, UndeclaredMembers['call']>;
export type OllamaCallBody = Loose<ollama.ToolCall['function']>;
export type OllamaReply = Loose<ollama.ChatResponse>;
