import type { Accepted } from './accepted.ts';
import type { ClientFormatName } from './routes.ts';

const own = 'ids, times and names of the answer are this gateway’s own';
const kinds = 'the place of a value says what it is';
const partialCounts = 'the counts that these are parts of arrive';
const citation = 'a citation is its address, its title and its place';
const explanation = 'it explains an ending or an error that arrives';
const caches = 'why a cache missed changes what an answer costs, never the answer';
const safety = 'how harmless the vendor finds an answer that it gives';
const aboutPart = 'it describes a part that is noted itself';
const inHistory = 'ids and states of items that arrive';
const noTier = 'Gemini’s answers name no tier';
const noTokens = 'without tokens it says nothing';
const hostedCounts = 'how often the vendor’s own tools ran; their items are noted';

/** A chunk is an answer, so the same holds for both. */
const geminiAnswers: readonly Accepted[] = [
  { members: /^(?:modelVersion|responseId)$/, reason: own },
  { members: /^candidates\[\]\.(?:index|content\.role)$/, reason: 'there is one answer, the model’s' },
  { members: /^usageMetadata\.|^candidates\[\]\.tokenCount$/, reason: partialCounts },
  { members: /[sS]afetyRatings/, reason: safety },
  { members: /^candidates\[\]\.finishMessage$/, reason: explanation },
  { members: /citationMetadata\.|groundingChunks\[\]|groundingSupports\[\]/, reason: citation },
  {
    members: /groundingMetadata\.(?:imageSearchQueries|retrievalMetadata|retrievalQueries|webSearchQueries)/,
    reason: 'how the sources were found, which arrive',
  },
  {
    members: /parts\[\]\.(?:mediaProcessing|mediaResolution|partMetadata|speechMetadata|videoMetadata)/,
    reason: aboutPart,
  },
  { members: /parts\[\]\.thought$/, reason: 'without a text it marks nothing' },
  {
    members: /functionCall\.(?:name|willContinue)$/,
    reason: 'a call without a name is none, and a whole one does not continue',
  },
  {
    members: /^candidates\[\]\.(?:avgLogprobs|continuationToken)$/,
    reason: 'log probabilities are noted where they are asked for; no request can continue an answer',
  },
];

/** Members of answers that may be lost without a word. Any other is a failure, and so is an entry that nothing needs. */
export const acceptedOfAnswers: Readonly<Record<ClientFormatName, readonly Accepted[]>> = {
  chat: [
    { members: /^(?:id|created|model|object|system_fingerprint|metadata)$/, reason: own },
    { members: /^choices\[\]\.(?:index|message|message\.role)$/, reason: 'there is one answer, the model’s' },
    { members: /\.type$/, reason: kinds },
    { members: /^choices\[\]\.logprobs$/, reason: noTokens },
    { members: /function_call\.arguments$/, reason: 'arguments that are empty are those that are missing' },
    { members: /url_citation\.(?:start|end)_index$/, reason: 'the place of a citation of the whole text' },
    { members: /^usage\.(?:\w+_details\.|total_tokens$)/, reason: partialCounts },
    { members: /^service_tier$/, reason: noTier },
  ],
  responses: [
    { members: /^(?:id|object|created_at|completed_at)$/, reason: own },
    { members: /^error\./, reason: explanation },
    { members: /\.caller\(direct\)(?:\.type)?$|\.type$/, reason: kinds },
    {
      members: /^output\[\]\([a-z_]+\)\.(?:id|status|role|phase|call_id|created_by)$/,
      reason: inHistory,
    },
    { members: /^output\[\]\((?:message|reasoning)\)$/, reason: 'an item without content' },
    { members: /\(function_call\)\.arguments$/, reason: 'arguments that are empty are those that are missing' },
    { members: /\.namespace$/, reason: 'groups are part of the names of tools that were sent' },
    { members: /^prompt_cache_diagnostics/, reason: caches },
    { members: /^tool_usage/, reason: hostedCounts },
    { members: /^usage\./, reason: partialCounts },
    { members: /^service_tier$/, reason: noTier },
  ],
  messages: [
    { members: /^(?:id|model|role|type)$/, reason: own },
    { members: /citations\[\]\((?:web_)?search_result_location\)\./, reason: citation },
    { members: /\.caller\(direct\)(?:\.type)?$/, reason: kinds },
    { members: /\(tool_use\)\.input$/, reason: 'an input that is empty is one that is missing' },
    { members: /^diagnostics/, reason: caches },
    { members: /^stop_(?:details|sequence)/, reason: explanation },
    { members: /^usage\.server_tool_use/, reason: hostedCounts },
    { members: /^usage\.(?:cache_creation|inference_geo|speed)/, reason: partialCounts },
    { members: /^usage\.service_tier$/, reason: noTier },
  ],
  gemini: geminiAnswers,
};

/** Members of events that may be lost without a word; of Responses, types of events. */
export const acceptedOfEvents: Readonly<Record<ClientFormatName, readonly Accepted[]>> = {
  chat: [
    { members: /^(?:id|created|model|object|obfuscation|system_fingerprint)$/, reason: own },
    { members: /^choices\[\](?:\.index|\.delta\.role)?$/, reason: 'there is one answer, the model’s' },
    { members: /tool_calls\[\]\.(?:index|type)$/, reason: kinds },
    { members: /^choices\[\]\.logprobs$/, reason: noTokens },
    {
      members: /(?:function_call|function)\.arguments$/,
      reason: 'arguments that are empty are those that are missing',
    },
    { members: /^usage\.(?:\w+_details\.|total_tokens$)/, reason: partialCounts },
    { members: /^service_tier$/, reason: noTier },
  ],
  responses: [
    {
      members: /^\(response\.(?:created|queued|in_progress|completed)\)$/,
      reason: 'an answer begins with its first part and ends with its last',
    },
    {
      members: /\.(?:output_item|content_part|reasoning_summary_part)\.(?:added|done)\)$/,
      reason: 'an empty item or part',
    },
    {
      members:
        /^\(response\.(?:web_search_call|file_search_call|code_interpreter_call|image_generation_call|shell_call_\w+|mcp_\w+|compaction)/,
      reason: 'how far a tool of the vendor is; its item arrives or is noted when it is done',
    },
    {
      members: /(?:arguments|_call_input)\.(?:delta|done)\)$/,
      reason: 'an input without a call, which an item announces',
    },
  ],
  messages: [
    { members: /\.message\.(?:id|model|role|type)$/, reason: own },
    { members: /citation(?:s\[\])?\((?:web_)?search_result_location\)/, reason: citation },
    { members: /\.caller\(direct\)(?:\.type)?$|_delta\)\.type$/, reason: kinds },
    { members: /\(tool_use\)\.input$/, reason: 'an input that is empty is one that is missing' },
    { members: /\.diagnostics/, reason: caches },
    { members: /\.stop_(?:details|sequence)/, reason: explanation },
    {
      members: /^\((?:content_block|message)_stop\)/,
      reason: 'a block or a message ends with the next one, or the stream',
    },
    { members: /^\(message_delta\)(?:\.type|\.delta)?$/, reason: 'the end of an answer is that of its stream' },
    { members: /\.message\.(?:stop_reason|usage\.output_tokens)$/, reason: 'it is not known when a message starts' },
    { members: /usage\.server_tool_use/, reason: hostedCounts },
    { members: /usage\.(?:cache_creation|inference_geo|speed)/, reason: partialCounts },
    { members: /usage\.service_tier$/, reason: noTier },
  ],
  gemini: geminiAnswers,
};
