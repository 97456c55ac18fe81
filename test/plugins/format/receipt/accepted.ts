import type { ClientFormatName } from './routes.ts';

export interface Accepted {
  readonly members: RegExp;
  /** Why nobody has to be told. */
  readonly reason: string;
  /** The routes for which it holds, by the beginning of their names; all without it. */
  readonly on?: string;
}

export function isAccepted(list: readonly Accepted[], what: string, route: string): boolean {
  return list.some(({ members, on = '' }) => members.test(what) && route.startsWith(on));
}

const schemaWords = 'the other formats enforce every schema, and need no name for it';
const cacheHint = 'a hint for caches changes what an answer costs, never the answer';
const reasoningText = 'the text of reasoning is always passed on, whether or not it was asked for';
const here = 'it is for this gateway, which reads it itself';
const byDefault = 'its only values are what the others do in any case';
const ownIds = 'calls have the ids of Moonshot’s own form, made of names and places';
const deferred = 'deferred tools are sent in full';

/** Members that may be lost without a word. Any other is a failure, and so is an entry that nothing needs. */
export const accepted: Readonly<Record<ClientFormatName, readonly Accepted[]>> = {
  chat: [
    { members: /^(?:model|stream|stream_options\..*)$/, reason: here },
    { members: /prompt_cache_breakpoint/, reason: cacheHint },
    { members: /^response_format\(json_schema\)\.json_schema\.(?:name|strict)$/, reason: schemaWords },
    { members: /^(?:response_format|tools\[\]\(custom\)\.custom\.format)\(text\)/, reason: byDefault },
    {
      members: /^web_search_options\.user_location\.type$|(?:tool_calls\[\]|tools\[\]|tool_choice)\(function\)\.type$/,
      reason: byDefault,
    },
  ],
  responses: [
    { members: /^(?:model|stream|stream_options\..*|store|background|input)$/, reason: here },
    {
      members: /\((?:function_call|custom_tool_call)(?:_output)?\)\.(?:async|caller)/,
      reason: 'how a call of the history was made',
    },
    {
      members: /^input\[\]\([a-z_]+\)\.(?:id|status|phase)$|\(function_call_output\)\.(?:name|namespace)$/,
      reason: 'names and states of items of the history, which has ended',
    },
    { members: /\((?:function_call|custom_tool_call)_output\)\.call_id$/, reason: ownIds, on: 'moonshot' },
    { members: /^input\[\]\(item_reference\)$/, reason: 'the store puts the item in its place, or refuses it' },
    { members: /^reasoning\.(?:generate_)?summary$/, reason: reasoningText },
    { members: /^text\.format\(json_schema\)\.(?:name|strict)$/, reason: schemaWords },
    { members: /format\(text\)/, reason: byDefault },
    { members: /tools\[\]\(function\)\.type$/, reason: byDefault },
    {
      members: /^input\[\]\(configuration_update\)(?:\.text)?$/,
      reason: 'an update without a setting changes nothing',
    },
    { members: /defer_loading$/, reason: deferred },
    {
      members: /\(namespace\)\.(?:description|tools\[\]\(function\)\.parameters)$/,
      reason: 'groups are part of the names of their tools',
    },
    {
      members: /\(web_search(?:_preview)?\)\.(?:external_web_access|user_location\.type)/,
      reason: byDefault,
    },
  ],
  messages: [
    { members: /^(?:model|stream)$/, reason: here },
    { members: /cache_control/, reason: cacheHint },
    { members: /citations\[\]/, reason: 'where a text of the request came from is not for the model' },
    { members: /^thinking\((?:adaptive|enabled|disabled)\)(?:\.display)?$/, reason: reasoningText },
    { members: /\.defer_loading$/, reason: deferred },
    { members: /\.eager_input_streaming$/, reason: 'when input is streamed is up to the vendor' },
    {
      members: /^tool_choice\(auto\)$|^tools\[\]\((?:custom|web_search_\d+)\)\.(?:type|name|user_location\.type)$/,
      reason: byDefault,
    },
  ],
  gemini: [
    { members: /\.role$/, reason: 'a text without a role is the user’s' },
    { members: /parts\[\]\.thought/, reason: 'without a text it marks nothing' },
    { members: /streamFunctionCallArguments$/, reason: 'when input is streamed is up to the vendor' },
    {
      members: /(?:Schema|parameters)\.(?:anyOf\[\]\.)?(?:example|propertyOrdering\[\]|nullable)$/,
      reason: 'hints, about properties and types that are not there',
    },
    { members: /(?:functionCall|functionResponse)\.id$/, reason: ownIds, on: 'moonshot' },
    {
      members: /(?:inlineData|fileData)\.(?:mimeType|displayName)$/,
      reason: 'pictures have no names, and those at an address or of Ollama no type elsewhere',
    },
    { members: /thinkingConfig\.includeThoughts$/, reason: reasoningText },
  ],
};

const nearest = 'the nearest level that the route has';

/** Values that may be sent as one, as `member: value = value`. Any other are a failure, and so is an entry that nothing needs. */
export const acceptedValues: Readonly<Record<ClientFormatName, readonly Accepted[]>> = {
  chat: [
    { members: /\(function\)\.name: /, reason: 'the deprecated form of a result, which belongs to the call before it' },
    { members: /^reasoning_effort: max = xhigh$/, reason: nearest },
  ],
  responses: [
    { members: /\(message\)\.role: developer = system$/, reason: 'both are the operator of the application' },
    { members: /effort: max = xhigh$/, reason: nearest },
    { members: /\.type: web_search_preview = web_search_preview_\d/, reason: 'two names of one tool' },
  ],
  messages: [{ members: /effort: max = xhigh$/, reason: nearest }],
  gemini: [{ members: /parameters\.type: /, reason: 'parameters of a function are always an object' }],
};

const twoNames = 'two names of one setting';
const freely = 'with at most one call, the model chooses freely, too';
const endUser = 'two names of the person, of which Anthropic takes one';

/** Pairs of members of which the first may be lost beside the second, as `member beside member`. */
export const acceptedPairs: Readonly<Record<ClientFormatName, readonly Accepted[]>> = {
  chat: [
    { members: /^max_(?:completion_)?tokens beside max_/, reason: twoNames },
    { members: /^(?:function_call|tool_choice) beside (?:function_call|tool_choice)$/, reason: twoNames },
    { members: /^(?:user|safety_identifier) beside/, reason: endUser },
    { members: /^(?:function_call|tool_choice) beside parallel_tool_calls$/, reason: freely },
    { members: /^logprobs beside top_logprobs$/, reason: 'so many are some' },
    { members: /^functions\[\] beside (?:function_call|tool_choice)$/, reason: 'a choice of none leaves out all' },
  ],
  responses: [
    { members: /^(?:user|safety_identifier) beside/, reason: endUser },
    { members: /^tool_choice beside parallel_tool_calls$/, reason: freely },
  ],
  messages: [],
  gemini: [{ members: /responseMimeType beside \S+\.responseJsonSchema$/, reason: 'a schema is one of JSON' }],
};
