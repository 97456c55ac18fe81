import type { StateTagger } from './block-queue.ts';
import type { IdForm } from './call-ids.ts';
import type { ShownImages } from './made-images.ts';
import type { CompleteReply, Fragment } from './reply.ts';
import type { ToolNames } from './tool-names.ts';

interface ReceivedContent {
  take(fragment: Fragment): void;
  /** The client gets something else than what was taken. */
  noteChange(change: 'arguments' | 'images_as_text' | 'tool_names'): void;
}

/** The part that depends on the route of an answer. */
export interface GuardedRoute {
  readonly names: ToolNames;
  readonly tag: StateTagger;
}

export interface GuardOptions extends GuardedRoute {
  /** Id of the exchange; calls without an id get one derived from it. */
  readonly id: string;
  /** Estimates the tokens of the request, where the upstream has not counted them. */
  readonly inputTokens: () => number;
  /** True when clients take the last block for the answer: reasoning behind it is left out. */
  readonly endsWithAnswer?: boolean | undefined;
  /** True when the client did not ask for reasoning: it is kept, but left out of the answer. */
  readonly hidesReasoning?: boolean | undefined;
  /** The images that the client's format has in answers; any when left out. */
  readonly images?: ShownImages | undefined;
  /** The ids that clients accept for calls; any when left out. */
  readonly callIds?: IdForm | undefined;
  readonly hasLogprobs?: boolean | undefined;
  /** True when the client's format has a finish reason for answers that pause for the vendor's own tools. */
  readonly hasPauses?: boolean | undefined;
  /** True when the client has asked for an output format, which a paragraph between texts would break. */
  readonly isStructured?: boolean | undefined;
  /** Takes the content of the answer as the upstream has sent it; optional. */
  readonly received?: ReceivedContent | undefined;
  /** Called with the answer once it is complete, hidden reasoning included. */
  readonly onComplete?: ((reply: CompleteReply) => void) | undefined;
}
