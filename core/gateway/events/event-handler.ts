import type { EventTypes } from './events.ts';

/** Names of events: `order.paid`. */
export type EventName = keyof EventTypes & string;

/** Publishes events to all instances, including this one. */
export interface EventPublisher {
  /**
   * Resolves when the shared store has taken the event. Delivery is at most once per instance: recover events that must not be
   * missed from the database. Publish after the transaction has committed.
   *
   * @throws SharedUnavailable; Error if the payload is larger than 16 KB
   */
  publish<Name extends EventName>(name: Name, payload: EventTypes[Name]): Promise<void>;
}

/** A function that a plugin has registered for one type of event. */
export interface EventHandler<Context = unknown> {
  readonly event: EventName;
  /** Name of the plugin, for the log. */
  readonly plugin: string;
  handle(payload: never, context: Context): void | Promise<void>;
}
