export interface ReceivedBody {
  readonly text: string;
  readonly isWhole: boolean; // false if the connection ended before the body did
}

/** Reads to the body's end, or to where its connection ends, as after a failed stream. `onText` gets everything received so far. */
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
    // The error that fetch throws for a broken connection.
    if (error instanceof TypeError) return { text, isWhole: false };
    throw error;
  }
}
