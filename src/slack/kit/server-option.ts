import type { PlainTextOption } from '@slack/types';
import type { Server } from '../../domain/server.ts';
import { option } from './blocks.ts';
import { plainLabel } from './text.ts';

/** A server as one line of a menu: enough to tell two of the same label apart. */
export function serverOption(server: Server): PlainTextOption {
  const rest = [server.ipv4, server.state].filter(Boolean).join(', ');
  return option(
    plainLabel(server.label),
    String(server.id),
    rest ? `${server.id} · ${rest}` : String(server.id),
  );
}
