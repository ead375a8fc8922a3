// The panel's content: the picture, the story as a list, and what a run has shown.

import { type Fixed, type HeldFinding, type Report, type ReportPlace, type Run, sentence } from '../confirm/report';
import type { Say } from '../common/say';
import type { Explanation, Finding } from '../protocol';
import { element, escape } from './markup';
import { draw, type Fix, type Picture } from './picture';
import { plot, type Series } from './plot';
import { svg } from './svg';

export interface View {
  readonly explanation: Explanation;
  readonly fix?: Fix | undefined;
  /** The last run of the script, if the code has not changed since. */
  readonly report?: Report | undefined;
  /** The confirmed run before the code was changed, if the last one is clean. */
  readonly before?: Run | undefined;
  /** What that run has shown of this finding. */
  readonly held?: HeldFinding | undefined;
  /** The finding is not there any more: the text has changed, or the fix has been applied. */
  readonly gone: boolean;
  /** The script may be run: the workspace is trusted, and the file is on the disk. */
  readonly canConfirm: boolean;
}

export interface Page {
  readonly title: string;
  readonly markup: string;
  readonly picture: Picture | undefined;
}

export function page(view: View, say: Say): Page {
  const { explanation, fix } = view;
  const finding = explanation.finding;
  const title = `${explanation.code}: ${explanation.name}`;
  if (!finding) return { title, markup: element('h1', {}, escape(title)) + paragraph(explanation.summary), picture: undefined };
  const picture = draw(finding, fix, say);
  const markup = [
    element('h1', {}, escape(title)),
    view.gone ? element('p', { class: 'notice', role: 'status' }, escape(say('This finding is gone: the code has changed.'))) : '',
    element('p', { class: 'certainty' }, escape(certainty(finding, say))),
    paragraph(finding.message),
    buttons(view, say),
    picture ? element('div', { class: 'scroll' }, svg(picture, say)) + legend(picture, fix, say) : '',
    story(finding, say),
    view.report ? confirmed(view.report, view, finding, say) : '',
  ];
  return { title, markup: markup.join('\n'), picture };
}

function certainty(finding: Finding, say: Say): string {
  const severity = {
    error: say('Error'),
    warning: say('Warning'),
    information: say('Information'),
  }[finding.severity];
  return `${severity} · ${finding.certainty === 'certain' ? say('certain') : say('possible')}`;
}

function buttons(view: View, say: Say): string {
  const shown: string[] = [];
  if (view.fix && !view.gone) {
    shown.push(button('fix', say('Apply the fix: {0}', view.fix.title), view.fix.preferred ? 'primary' : undefined));
  }
  if (view.canConfirm) shown.push(button('confirm', say('Confirm on device')));
  shown.push(button('rule', say('About {0}', view.explanation.code)));
  return element('div', { class: 'buttons' }, ...shown);
}

function button(action: string, text: string, kind?: string): string {
  return element('button', { type: 'button', class: kind, 'data-action': action, id: `button-${action}` }, escape(text));
}

function legend(picture: Picture, fix: Fix | undefined, say: Say): string {
  const kinds = new Set(picture.edges.map((edge) => edge.kind));
  const words: string[] = [];
  if (kinds.has('carries')) {
    words.push(key('carries', picture.grows ? say('stays alive into the next iteration') : say('carries the graph into another iteration')));
  }
  if (kinds.has('goes')) words.push(key('goes', say('the graph goes along')));
  if (kinds.has('frees')) words.push(key('frees', say('frees it')));
  if (kinds.has('changes')) words.push(key('changes', say('changes what it has saved')));
  if (kinds.has('retains')) words.push(key('retains', say('keeps it')));
  if (kinds.has('severed')) words.push(key('severed', say('the graph ends here')));
  if (picture.cuts.length > 0 && fix) words.push(key('cut', say('the fix cuts: {0}', fix.title)));
  return element('p', { class: 'legend', 'aria-hidden': 'true' }, ...words);
}

function key(kind: string, text: string): string {
  return element('span', { class: `key ${kind}` }, escape(text));
}

function story(finding: Finding, say: Say): string {
  if (finding.story.length === 0) return '';
  const steps = finding.story.map((step, index) => {
    const where =
      step.iteration === null
        ? say('line {0}', step.range.start.line + 1)
        : say('line {0}, iteration {1}', step.range.start.line + 1, step.iteration);
    return element(
      'li',
      {},
      element('strong', {}, escape(step.roleText)),
      ` ${escape(step.message)} `,
      element('a', { href: '#', 'data-step': index, id: `step-${index}` }, escape(where)),
      step.source ? element('code', {}, escape(step.source)) : '',
    );
  });
  return element('h2', {}, escape(say('The story'))) + element('ol', { class: 'story' }, ...steps);
}

function confirmed(report: Report, { held, before }: View, finding: Finding, say: Say): string {
  const fixed = report.fixed ?? undefined;
  const chart = plot(seriesOf(report, before, say), say);
  return element(
    'section',
    { class: 'confirmed', 'aria-live': 'polite' },
    element('h2', {}, escape(say('On the device'))),
    element('p', { class: `verdict ${report.verdict}` }, escape(verdict(report, say))),
    paragraph(sentence(report.reason)),
    held?.status === 'refuted' ? element('p', { class: 'notice' }, escape(say('The run does not bear out {0}.', finding.code))) : '',
    held?.report ? element('div', { class: 'buttons' }, button('report', say('Open a Report'))) : '',
    ...notes(report, say).map(paragraph),
    carriers(report, say),
    builders(report, say),
    chart ? element('h3', {}, escape(say('Graph nodes per iteration'))) + chart : '',
    fixed ? proof(fixed, say) : '',
  );
}

/** Before and after: of the fix in memory, or of the change that has been made since the run before. */
function seriesOf(report: Report, before: Run | undefined, say: Say): Series[] {
  if (before) {
    return [
      { name: say('before the change'), kind: 'before', values: before.graph_nodes },
      { name: say('now'), kind: 'after', values: report.graph_nodes },
    ];
  }
  const own: Series = { name: say('as it is'), kind: 'before', values: report.graph_nodes };
  return report.fixed ? [own, { name: say('with the fix'), kind: 'after', values: report.fixed.graph_nodes }] : [own];
}

/** One line: what came out, where, and when. */
export function verdict(run: Run, say: Say): string {
  const device = run.device ?? '-';
  switch (run.verdict) {
    case 'confirmed':
      return run.iteration === null
        ? say('Confirmed on {0}', device)
        : say('Confirmed on {0} in iteration {1}', device, run.iteration);
    case 'clean':
      return say('Clean on {0} after {1} iterations', device, run.steps);
    case 'inconclusive':
      return say('Inconclusive');
  }
}

function notes(run: Run, say: Say): string[] {
  const found: string[] = [];
  if (run.redirected) found.push(say('The script asks for CUDA; the CPU stood in for it.'));
  if (run.shape_only) found.push(say('Shapes only: nothing was computed.'));
  if (run.first_write) found.push(say('The script writes {0}.', run.first_write.path));
  return found;
}

function carriers(run: Run, say: Say): string {
  if (run.carriers.length === 0) return '';
  const items = run.carriers.map((carrier, index) =>
    element(
      'li',
      {},
      element('code', {}, escape(carrier.name)),
      carrier.stored_at
        ? ' ' + element('a', { href: '#', 'data-carrier': index, id: `carrier-${index}` }, escape(say('stored in line {0}', carrier.stored_at.line)))
        : '',
    ),
  );
  return element('h3', {}, escape(say('What carries the graph'))) + element('ul', { class: 'carriers' }, ...items);
}

/** The statement that built the graph, and the calls that led there. */
function builders({ built_at, built_through = [] }: Run, say: Say): string {
  if (built_at === null || built_through.length === 0) return '';
  const shown = ({ path, line }: ReportPlace): string => element('code', {}, escape(`${path}:${line}`));
  const items = [
    `${escape(say('built in'))} ${shown(built_at)}`,
    ...built_through.map((place) => `${escape(say('called in'))} ${shown(place)}`),
  ];
  return element('h3', {}, escape(say('Where its graph was built'))) + element('ul', { class: 'builders' }, ...items.map((item) => element('li', {}, item)));
}

function proof(fixed: Fixed, say: Say): string {
  const lines = [verdict(fixed, say) + (fixed.reason ? `: ${fixed.reason}` : '')];
  if (fixed.no_longer_trained.length > 0) {
    lines.push(say('No longer trained: {0}', fixed.no_longer_trained.join(', ')));
  } else if (fixed.still_trained.length > 0) {
    lines.push(say('All {0} parameters that were trained still are.', fixed.still_trained.length));
  }
  if (fixed.first_loss_equal !== null) {
    lines.push(fixed.first_loss_equal ? say('The first loss is the same.') : say('The first loss is another one.'));
  }
  const heading = fixed.proven ? say('The fix is proven') : say('The fix is not proven');
  return element('h3', { class: fixed.proven ? 'proven' : 'unproven' }, escape(heading)) + element('ul', {}, ...lines.map((line) => element('li', {}, escape(line))));
}

function paragraph(text: string): string {
  return text ? element('p', {}, escape(text)) : '';
}
