/** The content of a data URL; undefined for any other URL, and for data that is not base64. */
export function readDataUrl(url: string): { mediaType: string; data: string } | undefined {
  const comma = url.indexOf(',');
  if (!/^data:/i.test(url) || comma === -1) return undefined;
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).toLowerCase().split(';');
  if (!parameters.some((parameter) => parameter.trim() === 'base64')) return undefined;
  return { mediaType: plainMediaType(mediaType.trim()), data: url.slice(comma + 1) };
}

export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

export function writeDataUrl({ mediaType, data }: { mediaType: string; data: string }): string {
  return `data:${mediaType};base64,${data}`;
}

/** `image/jpg` is not a media type, but clients send it and vendors refuse it. */
export function plainMediaType(mediaType: string): string {
  return mediaType === 'image/jpg' ? 'image/jpeg' : mediaType;
}
