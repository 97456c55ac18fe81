/** Before the name of every figure. */
export const prefix = 'daypass_';
