import type { EventTypes } from './events.ts';

/** Name of an event, such as `order.paid`. */
export type EventName = keyof EventTypes & string;

/** Publishes events to all instances, including this one. */
export interface EventPublisher {
  /**
   * Publishes an event, and resolves when the shared store has accepted it. Each instance receives it at most once, so recover events
   * that must not be missed from the database. Publish only after the transaction has committed.
   *
   * @throws SharedUnavailable
   * @throws Error if the payload is larger than 16 KB
   */
  publish<Name extends EventName>(name: Name, payload: EventTypes[Name]): Promise<void>;
}

/** A function that a plugin registered for a type of event. */
export interface EventHandler<Context = unknown> {
  readonly event: EventName;
  /** Name of the plugin, for the log. */
  readonly plugin: string;
  handle(payload: never, context: Context): void | Promise<void>;
}
