import type { ClientFormatName } from './routes.ts';

export interface Accepted {
  readonly members: RegExp;
  /** Why nobody has to be told. */
  readonly reason: string;
}

const schemaWords = 'the other formats enforce every schema, and need no name for it';
const cacheHint = 'a hint for caches changes what an answer costs, never the answer';
const reasoningText = 'the text of reasoning is always passed on, whether or not it was asked for';
const here = 'it is for this gateway, which reads it itself';
const byDefault = 'its only values are what the others do in any case';
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
    { members: /function_call\.arguments$/, reason: 'arguments that are empty are those that are missing' },
  ],
  responses: [
    { members: /^(?:model|stream|stream_options\..*|store|background|input)$/, reason: here },
    {
      members: /\((?:function_call|custom_tool_call)(?:_output)?\)\.(?:async|caller)/,
      reason: 'how a call of the history was made',
    },
    {
      members: /^input\[\]\([a-z_]+\)\.(?:id|status|phase)$/,
      reason: 'names and states of items of the history, which has ended',
    },
    {
      members: /^input\[\]\(function_call\)\.arguments$/,
      reason: 'arguments that are empty are those that are missing',
    },
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
      members: /Schema\.(?:anyOf\[\]\.)?(?:example|propertyOrdering\[\]|nullable)$/,
      reason: 'hints; null is a type beside others only',
    },
    { members: /thinkingConfig\.includeThoughts$/, reason: reasoningText },
    { members: /allowedFunctionNames\[\]$/, reason: 'there is one function, which is allowed' },
  ],
};
