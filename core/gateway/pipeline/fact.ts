/** A fact of any type, as stages list them under `reads` and `writes`. */
export interface AnyFact {
  readonly name: string;
}

/**
 * A typed key under which a stage stores a value for later stages. Stages declare the facts that they read and write, so that the gateway
 * can reject a gateway.yaml with an impossible order.
 */
export interface Fact<T> extends AnyFact {
  /** Ties the key to the type of its value, for the type checker only. */
  readonly _value?: (value: T) => T;
}

/** Defines a fact. Its identity is the returned object; the name is only for messages about gateway.yaml. */
export function defineFact<T>(name: string): Fact<T> {
  return Object.freeze({ name });
}
