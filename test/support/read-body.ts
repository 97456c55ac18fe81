/** A body as far as it came. */
export interface ReceivedBody {
  readonly text: string;
  /** False if the connection ended before the body. */
  readonly isWhole: boolean;
}

/**
 * Reads a body to its end, or to where its connection ends, as that of a failed stream does.
 *
 * @param onText called with all that has come so far
 */
export async function readBody({ body }: Response, onText?: (text: string) => void): Promise<ReceivedBody> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      onText?.(text);
    }
    return { text, isWhole: true };
  } catch (error) {
    // What fetch throws for a broken connection.
    if (error instanceof TypeError) return { text, isWhole: false };
    throw error;
  }
}
