import type { AnswerDigests } from '#core/gateway/model-call/adapter.ts';
import type { Fragment, ReplyEvent } from '../canonical/reply.ts';
import { ContentDigest } from './content-digest.ts';
import { type ContentChange, type ContentForm, SentContent } from './sent-content.ts';

/** Collects the content of a translated answer, both as the upstream sent it and as the client received it. */
export class TranslatedContent {
  readonly #receivedContent = new ContentDigest();
  readonly #sentContent: SentContent;
  readonly #changes = new Set<ContentChange>();
  /** The model as named by the upstream. */
  model: string | undefined;

  constructor(form?: ContentForm) {
    this.#sentContent = new SentContent(form);
  }

  addReceived(fragment: Fragment): void {
    if (fragment.type === 'model') this.model ??= fragment.model;
    else this.#receivedContent.addFragment(fragment);
    if (fragment.type === 'refusal' && fragment.isReason === true) this.noteChange('refusal');
  }

  noteChange(change: ContentChange): void {
    this.#changes.add(change);
  }

  addSent(events: readonly ReplyEvent[], isStream: boolean): void {
    for (const event of events) this.#sentContent.addEvent(event, isStream);
  }

  /** @param isComplete true if the client received the end of the answer */
  computeDigests(isComplete: boolean): AnswerDigests {
    const received = this.#receivedContent.digest;
    const sent = this.#receivedContent.hasSameContent(this.#sentContent.content)
      ? received
      : this.#sentContent.content.digest;
    if (received === sent) return { received, sent };
    const changes = [...this.#changes, ...this.#sentContent.changes, ...(isComplete ? [] : (['cut'] as const))];
    return { received, sent, changes: changes.toSorted() };
  }
}
