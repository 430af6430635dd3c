//! The texts of emails to subscribers, in seven languages. Titles, names and user texts are not
//! translated. `{}` is a placeholder.

use rules::report::ReportStatus;
use rules::status_page::Language;

/// The texts of one language.
pub(super) struct EmailStrings {
    /// The four statuses of a report, in order.
    pub(super) statuses: [&'static str; 4],
    pub(super) scheduled: &'static str,
    pub(super) started: &'static str,
    pub(super) completed: &'static str,
    /// For one component, and for several.
    pub(super) down: [&'static str; 2],
    pub(super) up: [&'static str; 2],
    /// Range of two times.
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
    pub(super) already_subscribed_title: &'static str,
    pub(super) already_subscribed_text: &'static str,
}

/// Returns the texts of a language.
pub(super) const fn for_language(language: Language) -> &'static EmailStrings {
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

impl EmailStrings {
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

const EN: EmailStrings = EmailStrings {
    statuses: ["Investigating", "Identified", "Monitoring", "Resolved"],
    scheduled: "Scheduled maintenance: {}",
    started: "Maintenance started: {}",
    completed: "Maintenance completed: {}",
    down: ["{} is down", "{} are down"],
    up: ["{} is up again", "{} are up again"],
    from_to: "{} to {}",
    components: "Components",
    open_page: "View status page",
    several: "{} messages",
    why: "You receive this email because you subscribed to the status page “{}”.",
    unsubscribe: "Unsubscribe",
    manage: "Manage subscription",
    confirm_title: "Confirm your subscription to “{}”",
    confirm_text: "Confirm that you want to receive updates from the status page “{}”. This link is valid for 24 hours. If you did not request this, ignore this email and we will not contact you again.",
    confirm: "Confirm",
    already_subscribed_title: "Your subscription to “{}”",
    already_subscribed_text: "Someone, probably you, asked to subscribe this address to the status page “{}”. It is already subscribed, and nothing has changed.",
};

const DE: EmailStrings = EmailStrings {
    statuses: ["Wird untersucht", "Ursache gefunden", "Wird beobachtet", "Behoben"],
    scheduled: "Geplante Wartung: {}",
    started: "Die Wartung hat begonnen: {}",
    completed: "Die Wartung ist beendet: {}",
    down: ["{} ist ausgefallen", "{} sind ausgefallen"],
    up: ["{} funktioniert wieder", "{} funktionieren wieder"],
    from_to: "{} bis {}",
    components: "Komponenten",
    open_page: "Statusseite öffnen",
    several: "{} Nachrichten",
    why: "Du erhältst diese E-Mail, weil du die Statusseite „{}“ abonniert hast.",
    unsubscribe: "Abmelden",
    manage: "Abonnement verwalten",
    confirm_title: "Bestätige dein Abonnement von „{}“",
    confirm_text: "Bestätige, dass du Updates der Statusseite „{}“ erhalten möchtest. Der Link ist 24 Stunden gültig. Falls du das nicht angefordert hast, ignoriere diese E-Mail. Du erhältst dann keine weiteren.",
    confirm: "Bestätigen",
    already_subscribed_title: "Dein Abonnement von „{}“",
    already_subscribed_text: "Jemand, vermutlich du, wollte diese Adresse für die Statusseite „{}“ anmelden. Sie ist bereits angemeldet, und nichts hat sich geändert.",
};

const FR: EmailStrings = EmailStrings {
    statuses: ["Analyse en cours", "Cause identifiée", "Sous surveillance", "Résolu"],
    scheduled: "Maintenance programmée : {}",
    started: "La maintenance a commencé : {}",
    completed: "La maintenance est terminée : {}",
    down: ["{} est en panne", "{} sont en panne"],
    up: ["{} fonctionne à nouveau", "{} fonctionnent à nouveau"],
    from_to: "{} à {}",
    components: "Composants",
    open_page: "Ouvrir la page d’état",
    several: "{} messages",
    why: "Vous recevez cet e-mail parce que vous êtes abonné à la page d’état « {} ».",
    unsubscribe: "Se désabonner",
    manage: "Gérer l’abonnement",
    confirm_title: "Confirmez votre abonnement à « {} »",
    confirm_text: "Confirmez que vous souhaitez recevoir les mises à jour de la page d’état « {} ». Ce lien est valable 24 heures. Si vous n’êtes pas à l’origine de cette demande, ignorez cet e-mail : vous n’en recevrez pas d’autre.",
    confirm: "Confirmer",
    already_subscribed_title: "Votre abonnement à « {} »",
    already_subscribed_text: "Quelqu’un, sans doute vous, a demandé à abonner cette adresse à la page d’état « {} ». Elle est déjà abonnée et rien n’a changé.",
};

const ES: EmailStrings = EmailStrings {
    statuses: ["Investigando", "Causa identificada", "En observación", "Resuelto"],
    scheduled: "Mantenimiento programado: {}",
    started: "El mantenimiento ha comenzado: {}",
    completed: "El mantenimiento ha terminado: {}",
    down: ["{} no funciona", "{} no funcionan"],
    up: ["{} vuelve a funcionar", "{} vuelven a funcionar"],
    from_to: "{} a {}",
    components: "Componentes",
    open_page: "Abrir la página de estado",
    several: "{} mensajes",
    why: "Recibes este correo porque te suscribiste a la página de estado «{}».",
    unsubscribe: "Cancelar la suscripción",
    manage: "Gestionar la suscripción",
    confirm_title: "Confirma tu suscripción a «{}»",
    confirm_text: "Confirma que quieres recibir novedades de la página de estado «{}». El enlace es válido durante 24 horas. Si no lo has pedido, ignora este correo y no recibirás más.",
    confirm: "Confirmar",
    already_subscribed_title: "Tu suscripción a «{}»",
    already_subscribed_text: "Alguien, probablemente tú, pidió suscribir esta dirección a la página de estado «{}». Ya está suscrita y no ha cambiado nada.",
};

const PT: EmailStrings = EmailStrings {
    statuses: ["Investigando", "Causa identificada", "Em observação", "Resolvido"],
    scheduled: "Manutenção programada: {}",
    started: "A manutenção começou: {}",
    completed: "A manutenção terminou: {}",
    down: ["{} está fora do ar", "{} estão fora do ar"],
    up: ["{} voltou a funcionar", "{} voltaram a funcionar"],
    from_to: "{} a {}",
    components: "Componentes",
    open_page: "Abrir a página de status",
    several: "{} mensagens",
    why: "Você recebe este e-mail porque assinou a página de status “{}”.",
    unsubscribe: "Cancelar a assinatura",
    manage: "Gerenciar a assinatura",
    confirm_title: "Confirme sua assinatura de “{}”",
    confirm_text: "Confirme que deseja receber atualizações da página de status “{}”. O link é válido por 24 horas. Se você não pediu isso, ignore este e-mail e não enviaremos outros.",
    confirm: "Confirmar",
    already_subscribed_title: "Sua assinatura de “{}”",
    already_subscribed_text: "Alguém, provavelmente você, pediu para assinar a página de status “{}” com este endereço. Ele já está inscrito, e nada mudou.",
};

const JA: EmailStrings = EmailStrings {
    statuses: ["調査中", "原因を特定", "経過を観察中", "解決済み"],
    scheduled: "計画メンテナンス: {}",
    started: "メンテナンスを開始しました: {}",
    completed: "メンテナンスが終了しました: {}",
    down: ["{}が停止しています", "{}が停止しています"],
    up: ["{}が復旧しました", "{}が復旧しました"],
    from_to: "{}～{}",
    components: "コンポーネント",
    open_page: "ステータスページを開く",
    several: "{}件のお知らせ",
    why: "このメールは、ステータスページ「{}」を購読している方にお送りしています。",
    unsubscribe: "購読を解除する",
    manage: "購読の管理",
    confirm_title: "「{}」の購読を確認してください",
    confirm_text: "ステータスページ「{}」の更新情報を受け取るには、購読を確認してください。リンクは24時間有効です。心当たりがない場合はこのメールを無視してください。今後メールは送信されません。",
    confirm: "確認する",
    already_subscribed_title: "「{}」の購読について",
    already_subscribed_text: "ステータスページ「{}」への購読申し込みがこのアドレスでありましたが、すでに購読済みです。変更はありません。",
};

const ZH: EmailStrings = EmailStrings {
    statuses: ["正在调查", "已查明原因", "正在观察", "已解决"],
    scheduled: "计划维护：{}",
    started: "维护已开始：{}",
    completed: "维护已结束：{}",
    down: ["{} 发生故障", "{} 发生故障"],
    up: ["{} 已恢复", "{} 已恢复"],
    from_to: "{} 至 {}",
    components: "组件",
    open_page: "打开状态页",
    several: "{} 条消息",
    why: "您收到此邮件，是因为您订阅了状态页“{}”。",
    unsubscribe: "退订",
    manage: "管理订阅",
    confirm_title: "请确认订阅“{}”",
    confirm_text: "请确认您要接收状态页“{}”的更新。链接 24 小时内有效。如果不是您本人申请，请忽略此邮件，我们不会再发送邮件。",
    confirm: "确认",
    already_subscribed_title: "您对“{}”的订阅",
    already_subscribed_text: "有人（可能是您本人）申请用此地址订阅状态页“{}”。此地址已订阅，没有任何变化。",
};
