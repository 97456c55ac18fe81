/** A fact of any type, as stages list them under `reads` and `writes`. */
export interface AnyFact {
  readonly name: string;
}

/**
 * A typed key under which one stage leaves a value for later stages. Stages declare the facts that they read and write, so that loading a
 * gateway.yaml with an impossible order fails.
 */
export interface Fact<T> extends AnyFact {
  /** Exists only for the type checker: ties the key to the type of its value. */
  readonly _value?: (value: T) => T;
}

/** Defines a fact. The name is for messages about gateway.yaml; the object itself is the identity. */
export function defineFact<T>(name: string): Fact<T> {
  return Object.freeze({ name });
}
