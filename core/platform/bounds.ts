const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * Limits of all buffers and collections, in bytes unless stated otherwise. Each entry states what happens above the limit. Options of
 * gateway.yaml that set a bound take their defaults from here.
 */
export const bounds = {
  // Received from clients.
  /** Request head; 431 over the limit. */
  requestHead: 16 * KiB,
  /** Request body after decompression (`max_body_bytes`); 413 over the limit. */
  requestBody: 32 * MiB,
  /**
   * Body that is accepted even if there is no memory for larger ones. Each byte takes up several bytes of memory, see
   * core/platform/memory/budget.ts.
   */
  smallBody: 64 * KiB,
  /** Parts of a multipart form; 400 over the limit. */
  formParts: 200,
  /**
   * Unread remainder of a rejected body that is drained, so that the client reads the rejection; the connection is closed over the limit.
   */
  refusedBody: 32 * MiB,
  /** Like `refusedBody`, for a request that was pipelined behind another. */
  discardedBody: 4 * MiB,
  /** Requests on one connection that wait for the running one; over the limit, the connection closes after their responses. */
  pipelinedRequests: 4,
  /** Body of a waiting request; if it is longer, the connection closes after the current response. */
  pipelinedBody: 16 * KiB,
  /** Body of a payment provider's notification; 413 over the limit. */
  paymentNotification: 64 * KiB,

  // Provided by the operator.
  /** Secret file named in gateway.yaml; the configuration is rejected over the limit. */
  secretFile: 64 * KiB,

  // Limits of JSON, so that parsing a body does not block other requests (core/platform/json-measure.ts).
  /** Values in a request body; 413 over the limit. A conversation of a million tokens has about a tenth as many. */
  requestValues: 100_000,
  /** Values in a non-streaming reply; log probabilities have 165 per token. The route fails over the limit. */
  replyValues: 500_000,
  /** Distinct object shapes. This and the next two limits apply to requests (413) and replies (the route fails). Tools have the most. */
  jsonShapes: 10_000,
  /** Escaped characters: some clients escape all non-ASCII characters. */
  jsonEscapes: 1_000_000,
  /** Bytes outside of strings: numbers, punctuation and white space. */
  jsonOutsideStrings: 4 * MiB,
  /**
   * Outline of a body. A body with little text in long strings is parsed whole, in steps, because writing its outline takes 4 ms per MiB.
   */
  jsonOutline: 2 * MiB,
  /** Bodies above this size are read in steps, each in a separate turn of the event loop. */
  stepwiseBody: 256 * KiB,

  /** Form on a page; 413 over the limit. */
  formBody: 64 * KiB,
  /** Characters of the User-Agent stored with a session; longer ones are truncated. */
  userAgent: 400,

  /** Live streams of one account; the oldest ends over the limit. */
  accountStreams: 20,
  /** Live streams of all visitors at one address; the oldest ends over the limit. */
  addressStreams: 50,
  /** Live streams of the process; 503 over the limit. */
  liveStreams: 5_000,
  /** Characters of the URL of a live stream; 414 over the limit. */
  liveUrl: 2_048,

  // Received from payment providers.
  /** Response of a payment provider; the call fails over the limit. */
  providerResponse: 256 * KiB,

  // Received from upstreams.
  /** Head of a response; some vendors send large cookies. The route fails over the limit. */
  upstreamHead: 64 * KiB,
  /** Bytes before and around a body: head, interim responses, sizes and extensions of chunks. The route fails over the limit. */
  upstreamFraming: 256 * KiB,
  /** Non-streaming reply, buffered until its end; images arrive as base64. The route fails over the limit. */
  bufferedReply: 64 * MiB,
  /** One event of a stream, and each of its lines; the largest streamed images need two thirds of it. The route fails over the limit. */
  event: 16 * MiB,
  /** Values in one event; a final event that repeats the response has several per token. The route fails over the limit. */
  eventValues: 200_000,
  /** Events held until the first content; the Responses API repeats the instructions in each of them. The route fails over the limit. */
  gatedEvents: 8 * MiB,
  /** Everything before the first content, including pings and incomplete events. The route fails over the limit. */
  gatedBytes: 40 * MiB,
  /** Characters of a translated reply; over the limit, the reply is truncated with an error. */
  translatedReply: 64 * MiB,
  /** Body of an error response; the remainder is not read. */
  errorBody: 64 * KiB,

  // Buffered for slow clients, in at most four places, in addition to the socket's own buffer.
  /** Buffered in one stream; its source is paused over the limit. */
  slowReader: 256 * KiB,

  // Stored for later.
  /** Cached reply (`max_bytes`); larger ones are not cached. */
  cachedReply: 16 * MiB,
  /** All entries in memory without Redis, at most an eighth of the process's memory; the oldest are evicted. */
  memoryCache: 256 * MiB,
  /** All values in groups in memory without Redis, at most a sixteenth of the process's memory; the least used are evicted. */
  memoryGroups: 64 * MiB,
  /**
   * Reasoning before one tool call, and before equal calls in other turns. Larger reasoning is not stored, the oldest is dropped. The
   * largest thinking budget is 128 KB of text.
   */
  storedReasoning: 256 * KiB,
  /** Stored reasoning of one account; the oldest is dropped. */
  accountReasoning: 16 * MiB,
  /** Tool calls of one account with stored reasoning; the oldest is dropped. */
  storedReasonings: 4_096,
  /** Replies that one account can continue in message threads; the oldest are dropped. */
  storedThreads: 4_096,
  /** Bytes of these replies; the oldest are dropped. */
  accountThreads: 1 * MiB,
  /** Tool calls in the history of one request whose reasoning is looked up; older calls are sent without reasoning. */
  restoredCalls: 1_024,
  /** Stored response (`max_bytes`); larger ones are not stored. Also limits the items that one request may reference. */
  storedResponse: 32 * MiB,
  /** Characters of the events of a background response, which then fails. */
  backgroundEvents: 64 * MiB,
  /** Characters of a reply that another route may continue; longer replies are not resumed. */
  resumedText: MiB,
  /** Content of one exchange in the log (`max_content_bytes`); longer content is truncated. */
  loggedContent: 128 * KiB,
  /** Lines waiting to be written to the journal, including base64 bodies; dropped and counted over the limit. */
  journalLines: 256 * KiB,
  /** Process log waiting for a stalled reader; lines are dropped and counted over the limit. */
  pendingLog: 1 * MiB,
  /** One journal file; a new one is started over the limit. `max_journal_bytes` limits all of them. */
  journalSegment: 4 * MiB,
  /**
   * Journal files that stay open until they are stored, and the same number for dead instances; other files are lost if they are removed.
   */
  openSegments: 64,
  /** Records in memory while no journal file can be written; dropped and counted over the limit. */
  journalMemory: 16 * MiB,
  /** Records in memory for a collector while their folder cannot be written; dropped and counted over the limit. */
  spoolMemory: 16 * MiB,
  /** Characters of a damaged line in the journal; skipped over the limit. */
  journalLine: MiB,
  /** Records that the database rejected, kept in a folder; dropped and counted over the limit. */
  rejectedRecords: 16 * MiB,

  // Entries.
  /** Cached accounts and keys; the oldest are evicted. */
  cachedKeys: 50_000,
  /** Keys cached as unknown; the oldest are evicted. */
  unknownKeys: 20_000,
  /** Networks with failed authentications; the least recent is evicted. */
  failingNetworks: 20_000,
  /** Address blocks without an account that are counted separately per minute; further ones are counted together. */
  unauthenticatedBlocks: 1_000,
  /** How many of these counts are stored separately per minute, largest first; the others are stored together. */
  unauthenticatedCounts: 50,
  /** Counts waiting for the database; the oldest are dropped. */
  waitingCounts: 10_000,
  /** Records per minute for requests without an account: per block and status, and in total. */
  unauthenticatedRecords: { perKind: 5, total: 20 },
  /** Key lookups waiting for the database; rejected over the limit. */
  waitingLookups: 2_000,
  /** Slots to release once Redis has recovered; others expire. */
  pendingReleases: 10_000,
  /** File descriptors reserved for the database, the journal, the operator listener and the process itself. */
  reservedFiles: 96,
  /** Client connections that are accepted even if the system allows fewer files. */
  minConnections: 16,
  /** Connections over `listen.max_connections` that are still read, to answer 503 or a health check. */
  surplusConnections: 64,
  /** Lifetime of each surplus connection, ms. */
  surplusTimeoutMs: 2_000,
  /** Connections to the operator listener; further ones are closed. */
  operatorConnections: 100,
  /** Kinds of repeated lines that one part of the process log distinguishes; all are forgotten over the limit. */
  lineKinds: 200,
  /** Failing conversations that a breaker remembers; the oldest are evicted. */
  failingConversations: 1_000,
  /** Accounts whose calls a breaker counts in a sixth of its window; further ones are ignored. */
  countedAccounts: 1_000,
  /** Accounts whose digests are cached; all are dropped over the limit. */
  accountDigests: 1_000,
  /** Accounts that opened a breaker, as remembered and reported to other instances; the oldest are evicted. */
  openingAccounts: 16,
  /** Accounts that a breaker does not admit because the upstream asked them to wait; the oldest are evicted. */
  waitingAccounts: 1_000,
  /** Conversations and accounts for which a route failed, so that it may be tried last; the oldest are evicted. */
  setbacks: 2_000,
  /** Sessions moved from the route derived from their name; the oldest return to it. */
  movedSessions: 20_000,

  /** Host names whose addresses are cached; the oldest are evicted. */
  names: 1_000,
  /** Concurrent lookups of the helper process; further ones wait. */
  nameLookups: 128,

  /** Tokens of one reply; larger counts are ignored. The maximum of an integer column. */
  tokens: 2_147_483_647,
} as const;
