import type { JsonValue } from '#core/platform/json.ts';

/** Names of the members that any of these types declares. */
type Declared<T> = T extends unknown ? keyof { [K in keyof T as string extends K ? never : K]: true } & string : never;

/**
 * An object as sent by a client or a vendor: it may have any of the members that the vendor's SDK declares, and their
 * content is unchecked. A plain object can be used in its place; the compiler then knows the names.
 *
 * @template T declarations of the SDK
 * @template Others names that the declarations lack but a vendor or client sends
 */
export type Loose<T, Others extends string = never> = {
  readonly [Name in Declared<T> | Others]?: JsonValue | undefined;
};

/** The same object with members that can be changed in place. */
export type Editable<T> = { -readonly [Name in keyof T]: T[Name] };
