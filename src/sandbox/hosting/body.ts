import type { IncomingMessage } from 'node:http';
import { ApiError } from './errors.ts';

const MAX_BODY_BYTES = 64 * 1024;

/** Reads a request's whole body as text. @throws ApiError bad_request above 64 kB; the socket's own error when cut off */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not `for await`: leaving that early destroys the socket, and the refusal could no longer be sent.
  // What comes above the limit is read and dropped for the same reason.
  return await new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(new ApiError('bad_request'));
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.on('error', reject);
    request.on('close', () => reject(new Error('The request was cut off.')));
  });
}
