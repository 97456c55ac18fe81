import type { JsonObject } from '#core/platform/json.ts';
import { objectOf, objectsOf, textOf } from '../conformance/conversation.ts';
import type { UpstreamTextFormat } from '../support/formats.ts';

/** A tool as an upstream is offered it. */
export interface OfferedTool {
  readonly name: string;
  /** JSON Schema of its arguments. */
  readonly schema: JsonObject;
}

/** The client's tools in a request of a format. */
export function offeredTools(format: UpstreamTextFormat, body: JsonObject): OfferedTool[] {
  return readers[format](objectsOf(body['tools'])).filter(({ name }) => name !== '');
}

const readers: Readonly<Record<UpstreamTextFormat, (tools: JsonObject[]) => OfferedTool[]>> = {
  chat: readFunctions,
  ollama: readFunctions,
  responses: (tools) => tools.map((tool) => toTool(tool, 'parameters')),
  messages: (tools) => tools.map((tool) => toTool(tool, 'input_schema')),
  gemini: (tools) =>
    tools
      .flatMap((tool) => objectsOf(tool['functionDeclarations']))
      .map((tool) => toTool(tool, tool['parameters'] === undefined ? 'parametersJsonSchema' : 'parameters')),
};

function readFunctions(tools: JsonObject[]): OfferedTool[] {
  return tools.map((tool) => toTool(objectOf(tool['function']), 'parameters'));
}

function toTool(tool: JsonObject, member: string): OfferedTool {
  return { name: textOf(tool['name']), schema: objectOf(tool[member]) };
}

/** True when the answer must be a call. */
export function requiresCall(format: UpstreamTextFormat, body: JsonObject): boolean {
  if (format === 'gemini') {
    return objectOf(objectOf(body['toolConfig'])['functionCallingConfig'])['mode'] === 'ANY';
  }
  const choice = body['tool_choice'];
  const type = typeof choice === 'string' ? choice : objectOf(choice)['type'];
  return ['required', 'any', 'tool', 'function'].includes(String(type));
}

/** Values for the required arguments of a tool, but for those named. */
export function sampleInput({ schema }: Pick<OfferedTool, 'schema'>, ...without: readonly string[]): JsonObject {
  const properties = objectOf(schema['properties']);
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const others = required.filter((name) => !without.includes(name));
  return Object.fromEntries(others.map((name) => [name, sampleOf(objectOf(properties[name]))]));
}

function sampleOf(schema: JsonObject): JsonObject[string] {
  const [first] = Array.isArray(schema['enum']) ? schema['enum'] : [];
  if (first !== undefined) return first;
  const type = String(schema['type']).toLowerCase();
  if (type === 'boolean') return false;
  if (type === 'number' || type === 'integer') return 30_000;
  return type === 'array' ? [] : 'Write a file';
}
