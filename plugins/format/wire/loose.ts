import type { JsonValue } from '#core/platform/json.ts';

/** Names of the members that any type in a union declares, without index signatures. */
type DeclaredName<T> = T extends unknown
  ? keyof { [K in keyof T as string extends K ? never : K]: true } & string
  : never;

/**
 * An object as a client or vendor sends it. It may have any of the members that the vendor's SDK declares, and their content is unchecked.
 * A plain object is assignable to it.
 *
 * @template T the SDK's declarations
 * @template Others names that the declarations lack but a vendor or client sends
 */
export type Loose<T, Others extends string = never> = {
  readonly [Name in DeclaredName<T> | Others]?: JsonValue | undefined;
};

export type Editable<T> = { -readonly [Name in keyof T]: T[Name] };
