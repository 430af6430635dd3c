//! The words of emails to subscribers, in the seven languages. Titles, names and texts are the owner's
//! and stay as they are. A `{}` is where a value comes in.

use rules::report::ReportStatus;
use rules::status_page::Language;

/// The words of one language.
pub(super) struct Words {
    /// Of the four statuses of a report, in their order.
    pub(super) statuses: [&'static str; 4],
    pub(super) announced: &'static str,
    pub(super) begun: &'static str,
    pub(super) over: &'static str,
    /// Of one component, and of several.
    pub(super) down: [&'static str; 2],
    pub(super) up: [&'static str; 2],
    /// Between the beginning and the end of a time.
    pub(super) from_to: &'static str,
    pub(super) components: &'static str,
    pub(super) open_page: &'static str,
    pub(super) several: &'static str,
    pub(super) why: &'static str,
    pub(super) unsubscribe: &'static str,
    pub(super) manage: &'static str,
    pub(super) confirm_title: &'static str,
    pub(super) confirm_text: &'static str,
    pub(super) confirm: &'static str,
    pub(super) known_title: &'static str,
    pub(super) known_text: &'static str,
}

/// The words of a language.
pub(super) const fn of(language: Language) -> &'static Words {
    match language {
        Language::En => &EN,
        Language::De => &DE,
        Language::Fr => &FR,
        Language::Es => &ES,
        Language::Pt => &PT,
        Language::Ja => &JA,
        Language::Zh => &ZH,
    }
}

impl Words {
    pub(super) const fn status(&self, status: ReportStatus) -> &'static str {
        let [investigating, identified, monitoring, resolved] = self.statuses;
        match status {
            ReportStatus::Investigating => investigating,
            ReportStatus::Identified => identified,
            ReportStatus::Monitoring => monitoring,
            ReportStatus::Resolved => resolved,
        }
    }
}

const EN: Words = Words {
    statuses: ["Investigating", "Identified", "Monitoring", "Resolved"],
    announced: "Planned maintenance: {}",
    begun: "Maintenance has begun: {}",
    over: "Maintenance is over: {}",
    down: ["{} is down", "{} are down"],
    up: ["{} is up again", "{} are up again"],
    from_to: "{} to {}",
    components: "Components",
    open_page: "Open the status page",
    several: "{} messages",
    why: "You get this because you subscribed to the status page “{}”.",
    unsubscribe: "Unsubscribe",
    manage: "Choose what you hear of",
    confirm_title: "Confirm your subscription to “{}”",
    confirm_text: "Somebody, most likely you, asked that this address be told what happens on the status page “{}”. If it was you, confirm it within 24 hours. If not, do nothing: nothing more will be sent.",
    confirm: "Confirm",
    known_title: "Your subscription to “{}”",
    known_text: "Somebody, most likely you, asked that this address be told what happens on the status page “{}”. It is told already, and nothing has changed.",
};

const DE: Words = Words {
    statuses: ["Wird untersucht", "Ursache gefunden", "Wird beobachtet", "Behoben"],
    announced: "Geplante Wartung: {}",
    begun: "Die Wartung hat begonnen: {}",
    over: "Die Wartung ist beendet: {}",
    down: ["{} ist ausgefallen", "{} sind ausgefallen"],
    up: ["{} funktioniert wieder", "{} funktionieren wieder"],
    from_to: "{} bis {}",
    components: "Komponenten",
    open_page: "Statusseite öffnen",
    several: "{} Nachrichten",
    why: "Sie erhalten diese Nachricht, weil Sie die Statusseite „{}“ abonniert haben.",
    unsubscribe: "Abbestellen",
    manage: "Auswählen, was gemeldet wird",
    confirm_title: "Bestätigen Sie Ihr Abonnement von „{}“",
    confirm_text: "Jemand, vermutlich Sie selbst, möchte, dass diese Adresse erfährt, was auf der Statusseite „{}“ geschieht. Wenn Sie es waren, bestätigen Sie es innerhalb von 24 Stunden. Wenn nicht, tun Sie nichts: Es wird nichts weiter gesendet.",
    confirm: "Bestätigen",
    known_title: "Ihr Abonnement von „{}“",
    known_text: "Jemand, vermutlich Sie selbst, möchte, dass diese Adresse erfährt, was auf der Statusseite „{}“ geschieht. Das tut sie bereits, und nichts hat sich geändert.",
};

const FR: Words = Words {
    statuses: ["Analyse en cours", "Cause identifiée", "Sous surveillance", "Résolu"],
    announced: "Maintenance prévue : {}",
    begun: "La maintenance a commencé : {}",
    over: "La maintenance est terminée : {}",
    down: ["{} est en panne", "{} sont en panne"],
    up: ["{} fonctionne à nouveau", "{} fonctionnent à nouveau"],
    from_to: "{} à {}",
    components: "Composants",
    open_page: "Ouvrir la page d’état",
    several: "{} messages",
    why: "Vous recevez ce message parce que vous êtes abonné à la page d’état « {} ».",
    unsubscribe: "Se désabonner",
    manage: "Choisir ce qui vous est annoncé",
    confirm_title: "Confirmez votre abonnement à « {} »",
    confirm_text: "Quelqu’un, sans doute vous, a demandé que cette adresse soit informée de ce qui se passe sur la page d’état « {} ». Si c’était vous, confirmez-le dans les 24 heures. Sinon, ne faites rien : rien d’autre ne sera envoyé.",
    confirm: "Confirmer",
    known_title: "Votre abonnement à « {} »",
    known_text: "Quelqu’un, sans doute vous, a demandé que cette adresse soit informée de ce qui se passe sur la page d’état « {} ». Elle l’est déjà, et rien n’a changé.",
};

const ES: Words = Words {
    statuses: ["Investigando", "Causa identificada", "En observación", "Resuelto"],
    announced: "Mantenimiento programado: {}",
    begun: "El mantenimiento ha comenzado: {}",
    over: "El mantenimiento ha terminado: {}",
    down: ["{} no funciona", "{} no funcionan"],
    up: ["{} vuelve a funcionar", "{} vuelven a funcionar"],
    from_to: "{} a {}",
    components: "Componentes",
    open_page: "Abrir la página de estado",
    several: "{} mensajes",
    why: "Recibe este mensaje porque se suscribió a la página de estado «{}».",
    unsubscribe: "Cancelar la suscripción",
    manage: "Elegir de qué se le informa",
    confirm_title: "Confirme su suscripción a «{}»",
    confirm_text: "Alguien, seguramente usted, pidió que esta dirección reciba lo que ocurre en la página de estado «{}». Si fue usted, confírmelo en un plazo de 24 horas. Si no, no haga nada: no se enviará nada más.",
    confirm: "Confirmar",
    known_title: "Su suscripción a «{}»",
    known_text: "Alguien, seguramente usted, pidió que esta dirección reciba lo que ocurre en la página de estado «{}». Ya lo recibe, y nada ha cambiado.",
};

const PT: Words = Words {
    statuses: ["A investigar", "Causa identificada", "Em observação", "Resolvido"],
    announced: "Manutenção planeada: {}",
    begun: "A manutenção começou: {}",
    over: "A manutenção terminou: {}",
    down: ["{} está em baixo", "{} estão em baixo"],
    up: ["{} voltou a funcionar", "{} voltaram a funcionar"],
    from_to: "{} a {}",
    components: "Componentes",
    open_page: "Abrir a página de estado",
    several: "{} mensagens",
    why: "Recebe esta mensagem porque subscreveu a página de estado “{}”.",
    unsubscribe: "Cancelar a subscrição",
    manage: "Escolher o que recebe",
    confirm_title: "Confirme a sua subscrição de “{}”",
    confirm_text: "Alguém, provavelmente você, pediu que este endereço seja informado do que acontece na página de estado “{}”. Se foi você, confirme dentro de 24 horas. Se não foi, não faça nada: nada mais será enviado.",
    confirm: "Confirmar",
    known_title: "A sua subscrição de “{}”",
    known_text: "Alguém, provavelmente você, pediu que este endereço seja informado do que acontece na página de estado “{}”. Já é informado, e nada mudou.",
};

const JA: Words = Words {
    statuses: ["調査中", "原因を特定", "経過を観察中", "解決済み"],
    announced: "メンテナンスの予定: {}",
    begun: "メンテナンスを開始しました: {}",
    over: "メンテナンスが終了しました: {}",
    down: ["{}が停止しています", "{}が停止しています"],
    up: ["{}が復旧しました", "{}が復旧しました"],
    from_to: "{}～{}",
    components: "コンポーネント",
    open_page: "ステータスページを開く",
    several: "{}件のお知らせ",
    why: "このメールは、ステータスページ「{}」を購読している方にお送りしています。",
    unsubscribe: "購読を解除する",
    manage: "受け取る内容を選ぶ",
    confirm_title: "「{}」の購読を確認してください",
    confirm_text: "ステータスページ「{}」のお知らせをこのアドレスに送るよう申し込みがありました。ご本人の場合は24時間以内に確認してください。心当たりがない場合は何もする必要はありません。これ以上メールは送られません。",
    confirm: "確認する",
    known_title: "「{}」の購読について",
    known_text: "ステータスページ「{}」のお知らせをこのアドレスに送るよう申し込みがありました。このアドレスはすでに購読しています。変更はありません。",
};

const ZH: Words = Words {
    statuses: ["正在调查", "已查明原因", "正在观察", "已解决"],
    announced: "计划维护：{}",
    begun: "维护已开始：{}",
    over: "维护已结束：{}",
    down: ["{} 发生故障", "{} 发生故障"],
    up: ["{} 已恢复", "{} 已恢复"],
    from_to: "{} 至 {}",
    components: "组件",
    open_page: "打开状态页",
    several: "{} 条消息",
    why: "您收到此邮件，是因为您订阅了状态页“{}”。",
    unsubscribe: "退订",
    manage: "选择接收的内容",
    confirm_title: "请确认订阅“{}”",
    confirm_text: "有人（很可能是您本人）申请让此地址接收状态页“{}”的消息。如果是您本人，请在 24 小时内确认。如果不是，无需任何操作：不会再发送任何邮件。",
    confirm: "确认",
    known_title: "您对“{}”的订阅",
    known_text: "有人（很可能是您本人）申请让此地址接收状态页“{}”的消息。此地址已经订阅，没有任何变化。",
};
