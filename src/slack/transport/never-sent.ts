/** Only looking a name up, and opening a connection, fail like this: nothing has been written to it yet. */
const BEFORE_SENDING = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT'];

const MOST_CAUSES = 5;

/**
 * Whether what a call of Slack's library threw proves that the request never left. Anything else, such as a connection that
 * was reset or a timeout, may have come after Slack has read it.
 */
export function provesNeverSent(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; depth < MOST_CAUSES && error instanceof Error && error.cause !== undefined; depth++)
    error = error.cause;
  return error instanceof Error && 'code' in error && BEFORE_SENDING.includes(String(error.code));
}
