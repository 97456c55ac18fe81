const unservedApis: readonly (readonly [path: RegExp, message: string])[] = [
  [/^\/(?:files|uploads)(?:[/:]|$)/, 'This service stores no files. Send the contents of a file inside the request.'],
  [
    /^\/(?:batches|messages\/batches)(?:[/:]|$)|:(?:batchGenerateContent|asyncBatchEmbedContent)$/,
    'This service has no batches. Send the requests one by one.',
  ],
  [/^\/(?:fine_tuning|fine-tunes|tunedModels|tunings)(?:[/:]|$)/, 'This service has no fine-tuning.'],
  [
    /^\/(?:realtime|live|auth_tokens)(?:[/?]|$)/,
    'This service has no realtime API. Use POST /v1/audio/transcriptions and POST /v1/audio/speech.',
  ],
  [
    /^\/(?:assistants|threads|conversations|chatkit)(?:[/:]|$)/,
    'This service keeps no threads or assistants. Send the conversation with each request, or continue a response with previous_response_id.',
  ],
  // Google's samples have used this by default since June 2026.
  [
    /^\/interactions(?:[/:]|$)/,
    'This service has no interactions. Use POST /v1beta/models/MODEL:generateContent (`models.generateContent` of the SDK) with the whole conversation.',
  ],
  [/^\/decisions(?:[/:]|$)/, 'This service has no decisions. Ask a model, with a JSON schema for its answer.'],
  [
    /^\/(?:agents|sessions|environments|vaults|memory_stores|triggers)(?:[/:]|$)/,
    'This service runs no agents. Run the agent yourself, and send the conversation with each request.',
  ],
  [
    /^\/(?:audio\/)?(?:voices|voice_consents)(?:[/:]|$)/,
    'This service keeps no voices. POST /v1/audio/speech takes a voice of the vendor by its name.',
  ],
  [
    /^\/alpha\/search(?:[/:]|$)/,
    'This service has no search of its own. Declare a web search among the tools of a request.',
  ],
  [/^\/(?:vector_stores|fileSearchStores|corpora)(?:[/:]|$)/, 'This service has no vector stores.'],
  [/^\/containers(?:[/:]|$)/, 'This service has no containers.'],
  [/^\/cachedContents(?:[/:]|$)/, 'This service keeps no cached contents. Send the contents with each request.'],
  [/^\/(?:videos|evals|skills)(?:[/:]|$)/, 'This service has neither videos nor evals nor skills.'],
  [
    /:(?:predict|predictLongRunning)$/,
    'This service has no predict method. Use POST /v1/images/generations for images.',
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
