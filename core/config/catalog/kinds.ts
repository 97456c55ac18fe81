/** Purposes of models. Each endpoint calls models of one kind. */
export const modelKinds = ['chat', 'embedding', 'image', 'speech', 'transcription', 'rerank', 'moderation'] as const;

export type ModelKind = (typeof modelKinds)[number];

type FormatKinds = ReadonlyMap<string, { readonly kind: ModelKind }>;

/**
 * Infers the kind of a model that declares none: the kind in the vendor's preset if its endpoints serve that kind, otherwise the only kind
 * that they serve, otherwise chat.
 *
 * @param formatNames formats of the model's routes
 */
export function inferKind(
  preset: ModelKind | undefined,
  formatNames: readonly string[],
  formats: FormatKinds,
): ModelKind {
  const kinds = new Set(formatNames.flatMap((name) => formats.get(name)?.kind ?? []));
  if (preset !== undefined && kinds.has(preset)) return preset;
  const [onlyKind] = kinds;
  return kinds.size === 1 && onlyKind !== undefined ? onlyKind : 'chat';
}
