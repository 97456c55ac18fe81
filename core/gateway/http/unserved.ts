const unservedApis: readonly (readonly [path: RegExp, message: string])[] = [
  [
    /^\/(?:files|uploads)(?:[/:]|$)/,
    'This service does not store files. Send the contents of a file inside the request.',
  ],
  [
    /^\/(?:batches|messages\/batches)(?:[/:]|$)|:(?:batchGenerateContent|asyncBatchEmbedContent)$/,
    'This service does not support batches. Send the requests one by one.',
  ],
  [/^\/(?:fine_tuning|fine-tunes|tunedModels|tunings)(?:[/:]|$)/, 'This service does not support fine-tuning.'],
  [
    /^\/(?:realtime|live|auth_tokens)(?:[/?]|$)/,
    'This service has no realtime API. Use POST /v1/audio/transcriptions and POST /v1/audio/speech.',
  ],
  [
    /^\/(?:assistants|threads|conversations|chatkit)(?:[/:]|$)/,
    'This service does not support threads or assistants. Send the conversation with each request, or continue a response with previous_response_id.',
  ],
  // Google's samples have used this by default since June 2026.
  [
    /^\/interactions(?:[/:]|$)/,
    'This service does not support interactions. Use POST /v1beta/models/MODEL:generateContent (`models.generateContent` of the SDK) with the whole conversation.',
  ],
  [/^\/decisions(?:[/:]|$)/, 'This service has no decisions API. Ask a model, with a JSON schema.'],
  [
    /^\/(?:agents|sessions|environments|vaults|memory_stores|triggers)(?:[/:]|$)/,
    'This service does not run agents. Run the agent yourself, and send the conversation with each request.',
  ],
  [
    /^\/(?:audio\/)?(?:voices|voice_consents)(?:[/:]|$)/,
    "This service does not store voices. POST /v1/audio/speech accepts the vendor's voices by name.",
  ],
  [/^\/alpha\/search(?:[/:]|$)/, 'This service has no search API. Declare a web search tool in the request.'],
  [/^\/(?:vector_stores|fileSearchStores|corpora)(?:[/:]|$)/, 'This service does not support vector stores.'],
  [/^\/containers(?:[/:]|$)/, 'This service does not support containers.'],
  [/^\/cachedContents(?:[/:]|$)/, 'This service does not store cached contents. Send the contents with each request.'],
  [/^\/(?:videos|evals|skills)(?:[/:]|$)/, 'This service does not support videos, evals or skills.'],
  [
    /:(?:predict|predictLongRunning)$/,
    'This service does not support the predict method. Use POST /v1/images/generations for images.',
  ],
];

/**
 * Returns the message for the path of a vendor API that is not offered; undefined for other paths.
 *
 * @param path canonical path, which starts with `/v1/` or `/v1beta/`; Google's SDKs put `/upload` before it for files
 */
export function findUnservedMessage(path: string): string | undefined {
  const unversionedPath = path.replace(/^(?:\/v1\/upload)?\/v1[a-z\d]*(?=\/)/, '');
  return unservedApis.find(([pattern]) => pattern.test(unversionedPath))?.[1];
}
