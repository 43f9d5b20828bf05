import type { ComponentType } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { objectIn, objectsIn, textIn } from '../../../slack/json.ts';
import type { Json } from '../../../slack/page-api.ts';
import { ElementView } from '../elements/element-view.tsx';
import { SurfaceContext } from '../elements/spot.ts';
import { Mrkdwn, plainWords, RichText, Signed, TextView } from '../text/view.tsx';
import { Chart } from './charts.tsx';
import { DataTable } from './tables.tsx';

/** What the app sends. Slack has more blocks. */
const VIEWS: Readonly<Record<string, ComponentType<BlockProps>>> = {
  section: Section,
  header: ({ block }) => (
    <h3 class="block-header">
      <Signed text={plainWords(objectIn(block, 'text'))} />
    </h3>
  ),
  context: Context,
  divider: () => <hr />,
  actions: Actions,
  input: InputBlock,
  rich_text: RichText,
  data_table: DataTable,
  data_visualization: Chart,
};

export function Blocks({ blocks }: { readonly blocks: readonly Json[] }) {
  return (
    <>
      {blocks.map((block) => (
        <div key={textIn(block, 'block_id')} class={`block block-${textIn(block, 'type')}`}>
          <BlockView block={block} />
        </div>
      ))}
    </>
  );
}

function BlockView({ block }: BlockProps) {
  const type = textIn(block, 'type');
  const View = VIEWS[type];
  return View ? <View block={block} /> : <span class="quiet unknown">({type} is not in the sandbox)</span>;
}

function Section({ block }: BlockProps) {
  const accessory = objectIn(block, 'accessory');
  const fields = objectsIn(block, 'fields');
  return (
    <div class="section">
      <div class="grow section-text">
        <TextView of={block.text} />
        {fields.length > 0 && (
          <div class="fields">
            {fields.map((field, index) => (
              <div key={index}>
                <TextView of={field} />
              </div>
            ))}
          </div>
        )}
      </div>
      {accessory && (
        <div class="accessory">
          <ElementView block={block} element={accessory} />
        </div>
      )}
    </div>
  );
}

function Context({ block }: BlockProps) {
  return (
    <div class="quiet context">
      {objectsIn(block, 'elements').map((each, index) => (
        <div key={index}>
          <TextView of={each} />
        </div>
      ))}
    </div>
  );
}

function Actions({ block }: BlockProps) {
  return (
    <div class="row actions">
      {objectsIn(block, 'elements').map((element) => (
        <ElementView key={textIn(element, 'action_id')} block={block} element={element} />
      ))}
    </div>
  );
}

export interface BlockProps {
  readonly block: Json;
}

function InputBlock({ block }: { readonly block: Json }) {
  const { errors } = useContext(SurfaceContext);
  const id = useId();
  const element = objectIn(block, 'element');
  const hint = plainWords(objectIn(block, 'hint'));
  const error = errors[textIn(block, 'block_id')];
  return (
    <div class={error ? 'input wrong' : 'input'}>
      <label class="input-label" id={id} for={`${id}-field`}>
        {plainWords(objectIn(block, 'label'))}
        {block.optional === true && <span class="optional"> (optional)</span>}
      </label>
      {element && (
        <ElementView
          block={block}
          element={element}
          labelId={id}
          describedBy={`${id}-error ${id}-hint`}
          isWrong={error !== undefined}
        />
      )}
      <div class="input-error" id={`${id}-error`} role="alert">
        {error}
      </div>
      {hint && (
        <div class="quiet input-hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
    </div>
  );
}

/** Attachments, as alert tools post them: a bar in their color, title and text; the fallback where there is nothing else. */
export function Attachments({ attachments }: { readonly attachments: readonly Json[] }) {
  return (
    <>
      {attachments.map((attachment, index) => (
        <Attachment key={index} attachment={attachment} />
      ))}
    </>
  );
}

function Attachment({ attachment }: { readonly attachment: Json }) {
  const [color = '', title, text] = ['color', 'title', 'text'].map((name) => textIn(attachment, name));
  return (
    <div class="attachment" style={/^#[0-9a-f]{6}$/i.test(color) ? { borderColor: color } : undefined}>
      {title && <strong class="attachment-title">{title}</strong>}
      {text && <Mrkdwn text={text} />}
      {!title && !text && textIn(attachment, 'fallback')}
    </div>
  );
}
